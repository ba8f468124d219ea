"""The types of the widget, which stand in comments and in types.d.ts, as TypeScript sees them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import missing_program

WIDGET = Path(__file__).parents[2] / "widget"


def checked(node_modules: Path, project: Path) -> list[str]:
    """What TypeScript says about a project, a line for each finding."""
    if shutil.which("node") is None:
        missing_program("Node.js", "apt-get install nodejs")
    program = node_modules / ".bin" / "tsc"
    done = subprocess.run(
        [program, "--noEmit", "--checkJs", "--pretty", "false", "-p", "jsconfig.json"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not done.stderr, done.stderr
    assert bool(done.returncode) == bool(done.stdout.strip())
    return done.stdout.splitlines()


def test_the_types_of_the_widget_fit_together(node_modules):
    assert checked(node_modules, WIDGET) == []


def test_the_check_is_strict():
    options = json.loads((WIDGET / "jsconfig.json").read_text(encoding="utf-8"))
    assert options["compilerOptions"]["strict"] is True
    assert {"embed.js", "src"} <= set(options["include"])


MISTAKES = {
    "src/panel.js": '/** @type {import("../types").Texts} */ (/** @type {any} */ ({})).no_such_text;',
    "embed.js": 'document.createElment("p");',
}


@pytest.mark.parametrize("file", MISTAKES)
def test_a_mistake_in_a_name_is_found(node_modules, tmp_path, file):
    shutil.copytree(WIDGET, tmp_path / "widget")
    with (tmp_path / "widget" / file).open("a", encoding="utf-8") as script:
        script.write(MISTAKES[file])
    assert [line for line in checked(node_modules, tmp_path / "widget") if line.startswith(file)]
