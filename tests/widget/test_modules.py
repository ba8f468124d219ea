"""The modules that need no browser, by Node's own test runner."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted((Path(__file__).parent / "node").glob("*.test.mjs"))


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name.removesuffix(".test.mjs"))
def test_the_tests_in_node_pass(file):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine (apt-get install nodejs, 20 or newer)")
    done = subprocess.run([node, "--no-warnings", "--test", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-4000:]
