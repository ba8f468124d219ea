"""`backup`, `keys` and `audit` in a shell without the server's settings: they say so, and make nothing."""

import pytest

from server.__main__ import main

COMMANDS = [["backup", "out.zip"], ["keys", "rotate"], ["audit", "verify"], ["audit", "export"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_folder_without_a_database_is_refused_and_not_made(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    assert main(command) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"no Docent in DATA_DIR {tmp_path / 'data'}" in said.err
    assert "DATABASE_URL" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_empty_postgresql_is_refused_and_gets_no_tables(
    tmp_path, monkeypatch, capsys, new_postgresql, command
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("DATABASE_URL", new_postgresql())
    for _ in range(2):
        assert main(command) == 1
        assert "no Docent in the database of DATABASE_URL" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_backup_of_an_installation_that_is_there_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    assert main(["sites"]) == 0
    assert main(["backup", str(tmp_path / "out.zip")]) == 0
