"""The systemd unit of deploy/: systemd accepts it and rates it, and it starts what there is to start."""

import getpass
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import missing_program
from tests.docs_blocks import shell_commands

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "deploy" / "docent.service"
WORST = 20
"""Tenths: "exposed" begins at 50, "OK" ends at 20 in systemd's own words."""


@pytest.fixture
def unit(tmp_path):
    """The unit with a program and a user that this computer has, for systemd looks at both."""
    text = UNIT.read_text(encoding="utf-8")
    text = text.replace("/opt/docent/.venv/bin/python", sys.executable).replace("/opt/docent", str(ROOT))
    text = re.sub(r"^(User|Group)=docent$", rf"\1={getpass.getuser()}", text, flags=re.M)
    path = tmp_path / "docent.service"
    path.write_text(text, encoding="utf-8")
    return path


def analyze(*arguments):
    program = shutil.which("systemd-analyze") or missing_program("systemd-analyze", "apt-get install systemd")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_systemd_finds_nothing_wrong_with_the_unit(unit):
    done = analyze("verify", str(unit))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_unit_exposes_little(unit):
    done = analyze("security", "--offline=true", f"--threshold={WORST}", str(unit))
    assert done.returncode == 0, done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "line",
    [
        "UMask=0077",
        "ProtectSystem=strict",
        "NoNewPrivileges=true",
        "PrivateTmp=true",
        "CapabilityBoundingSet=",
        "ReadWritePaths=/var/lib/docent",
        "User=docent",
    ],
)
def test_what_the_documentation_promises_of_the_unit_is_in_it(line):
    assert line in UNIT.read_text(encoding="utf-8").splitlines()


def test_the_documented_command_has_the_user_and_the_settings_of_the_unit():
    [words] = [words for _, words, _ in shell_commands() if words[0] == "systemd-run"]
    unit = UNIT.read_text(encoding="utf-8")
    given = [words[place + 1] for place, word in enumerate(words) if word == "-p"]
    assert len(given) == 3
    assert set(given) <= set(unit.splitlines())
    assert f"Environment={words[words.index('-E') + 1]} " in unit
    program = " ".join(words[words.index("-E") + 2 :]).partition(" backup ")[0]
    assert f"ExecStart={program} run\n" in unit


def test_a_server_under_the_units_umask_writes_nothing_that_others_can_read(tmp_path):
    script = "import os, sys; os.umask(0o077); from server.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "--set", f"DATA_DIR={tmp_path / 'data'}", "sites"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    paths = [tmp_path / "data", *(tmp_path / "data").rglob("*")]
    assert len(paths) > 2
    assert [path.name for path in paths if path.stat().st_mode & 0o077] == []
