"""A part of the fuzzing that `python -m tests.fuzz` does in full: the kept files, and some inputs made from them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS, make_input

INPUTS = 60


def test_no_input_breaks_a_parser_or_takes_long():
    """In a process of its own: a crash or a hang would take all tests with it."""
    command = [sys.executable, "-m", "tests.fuzz", "--runs", str(INPUTS), "--seed", "tests"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count(f" {INPUTS} inputs, ") == len(TARGETS)


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "backup"])
def test_an_input_can_be_made_again_from_its_number(name):
    assert make_input(name, "x", 41) == make_input(name, "x", 41)
    assert len({make_input(name, "x", number) for number in range(40)}) > 20
