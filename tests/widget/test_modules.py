"""The modules that need no browser, by Node's own test runner."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "widget" / "src"
TAKEN_APART = re.compile(r"^.*\b(?:const|let|var) [{\[][^;=]*[}\]] = (?:/\*\*.*?\*/ )?\(.*$", re.MULTILINE)
TESTS = sorted((Path(__file__).parent / "node").glob("*.test.mjs"))


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name.removesuffix(".test.mjs"))
def test_the_tests_in_node_pass(file, node):
    done = subprocess.run([node, "--no-warnings", "--test", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("file", sorted(SOURCES.rglob("*.js")), ids=lambda file: file.stem)
def test_nothing_is_taken_apart_that_begins_with_a_parenthesis(file):
    # The minifier moves such a line before the declarations above it. Give the value a name first.
    assert TAKEN_APART.findall(file.read_text(encoding="utf-8")) == []
