"""The pages of promises: each test and file that they name exists, and the table of the ASVS is whole."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("security.md", "security-asvs.md", "operations.md")
STATES = ("met", "not met", "not applicable")
ASVS = {
    "1.1": "1-7", "1.2": "1-4", "1.4": "1 4 5", "1.5": "1-4", "1.6": "1-4", "1.7": "1 2", "1.8": "1 2", "1.9": "1 2", "1.10": "1",
    "1.11": "1 2", "1.12": "2", "1.14": "1-6", "2.1": "1-12", "2.2": "1-3", "2.3": "1-3", "2.4": "1-5", "2.5": "1-7", "2.6": "1-3",
    "2.7": "1-6", "2.8": "1-7", "2.9": "1-3", "2.10": "1-4", "3.1": "1", "3.2": "1-4", "3.3": "1-4", "3.4": "1-5", "3.5": "1-3",
    "3.7": "1", "4.1": "1-3 5", "4.2": "1 2", "4.3": "1-3", "5.1": "1-5", "5.2": "1-8", "5.3": "1-10", "5.4": "1-3", "5.5": "1-4",
    "6.1": "1-3", "6.2": "1-6", "6.3": "1 2", "6.4": "1 2", "7.1": "1-4", "7.2": "1 2", "7.3": "1 3 4", "7.4": "1-3", "8.1": "1-4",
    "8.2": "1-3", "8.3": "1-8", "9.1": "1-3", "9.2": "1-4", "10.2": "1 2", "10.3": "1-3", "11.1": "1-8", "12.1": "1-3", "12.2": "1",
    "12.3": "1-6", "12.4": "1 2", "12.5": "1 2", "12.6": "1", "13.1": "1 3-5", "13.2": "1-3 5 6", "13.3": "1 2", "13.4": "1 2",
    "14.1": "1-4", "14.2": "1-6", "14.3": "2 3", "14.4": "1-7", "14.5": "1-4",
}  # fmt: skip
"""Section of version 4.0.3 -> its requirements of level 1 and 2."""


def text(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@cache
def names_in(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def rows():
    """(number, level, subject, state, evidence) of the table."""
    found = re.findall(r"^\| (\d+\.\d+\.\d+) \|(.+)\|$", text("security-asvs.md"), re.M)
    return [(number, *map(str.strip, rest.split("|"))) for number, rest in found]


def numbers():
    for section, ranges in ASVS.items():
        for part in ranges.split():
            first, _, last = part.partition("-")
            yield from (f"{section}.{number}" for number in range(int(first), int(last or first) + 1))


@pytest.mark.parametrize("name", PAGES)
def test_every_test_and_file_that_a_promise_names_exists(name):
    missing = []
    for path, test in re.findall(r"`([\w.-]+/[\w./-]+?\.\w+)(?:::(\w+))?`", text(name)):
        if not (ROOT / path).is_file():
            missing.append(path)
        elif test and test not in names_in(path):
            missing.append(f"{path}::{test}")
    assert sorted(set(missing)) == []


def test_every_promise_names_a_test():
    section = text("security.md").split("## What does Docent promise?")[1].split("\n## ")[0]
    found = re.findall(r"^\| (.+) \| (.+) \|$", section, re.M)
    promises = [row for row in found if row[0] not in ("promise", "---")]
    assert len(promises) > 30
    assert [promise for promise, shown in promises if "`tests/" not in shown] == []


def test_every_requirement_has_one_row_in_its_order():
    assert [row[0] for row in rows()] == list(numbers())


def test_every_row_says_its_state_and_shows_it():
    for number, level, subject, state, shown in rows():
        assert level in ("1", "2"), number
        assert state in STATES, number
        assert subject, number
        assert shown, number
        assert state != "met" or re.search(r"`[\w./-]+", shown), number


def test_the_counts_are_those_of_the_rows():
    found = re.findall(
        r"^\| ([12].*?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text("security-asvs.md"), re.M
    )
    by_level = {"1": ["1"], "2, in addition to 1": ["2"], "1 and 2": ["1", "2"]}
    assert [row[0] for row in found] == list(by_level)
    for name, *counts in found:
        states = Counter(row[3] for row in rows() if row[1] in by_level[name])
        assert list(map(int, counts)) == [*(states[state] for state in STATES), states.total()], name
