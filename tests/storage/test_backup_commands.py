"""`backup` and `restore` in scripts: what they write to, and that they never wait for an answer that cannot come."""

import io
import os

import pytest

from server.__main__ import main


@pytest.fixture
def backup(tmp_path, monkeypatch):
    """The file of a backup of an installation without sites."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    file = tmp_path / "backup.zip"
    assert main(["sites"]) == 0
    assert main(["backup", str(file)]) == 0
    return file


def test_a_restore_without_a_terminal_changes_nothing_and_names_yes(backup, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["restore", str(backup)]) == 1
    assert "Nothing was changed" in (said := capsys.readouterr().out)
    assert "--yes" in said
    assert main(["restore", "--yes", str(backup)]) == 0


@pytest.mark.parametrize(("answer", "code"), [("no\n", 1), ("restore\n", 0)])
def test_a_restore_does_what_is_typed(backup, monkeypatch, capsys, answer, code):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    assert main(["restore", str(backup)]) == code
    assert ("Nothing was changed." in capsys.readouterr().out) == bool(code)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["a folder", "a pipe"])
def test_a_backup_goes_to_no_folder_and_no_device(backup, tmp_path, capsys, make):
    target = tmp_path / "target"
    make(target)
    kind = target.stat().st_mode
    assert main(["backup", str(target)]) == 1
    assert "is a folder or a device: name a new file" in capsys.readouterr().err
    assert target.stat().st_mode == kind
    assert not target.with_name("target.part").exists()


def test_a_backup_replaces_an_older_one(backup):
    before = backup.stat().st_ino
    assert main(["backup", str(backup)]) == 0
    assert backup.stat().st_ino != before
