"""`python -m server curated`: the operator's own answers in the shell."""

import argparse
import json

import pytest

from server.commands import curated
from server.domain.site import Site
from server.errors import StartError
from server.settings import Settings
from server.storage.database import Database
from server.storage.errors import UnknownSite
from server.storage.sites.sites import SiteStore


@pytest.fixture
def shell(tmp_path, capsys):
    settings = Settings.of(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path}/docent.sqlite3")
    database = Database(settings.storage.database_url)
    database.migrate()
    SiteStore(database).create(Site("shop", "Shop", "Shop"))
    database.close()
    parser = argparse.ArgumentParser()
    curated.arguments(parser)

    def run(*words):
        assert curated.run(parser.parse_args(words), settings) == 0
        return capsys.readouterr().out

    return run


def listed(shell):
    return json.loads(shell("list", "shop", "--json"))


def test_an_answer_is_added_listed_and_removed(shell):
    assert "No curated answer yet" in shell("list", "shop")
    shell("add", "shop", "Do you deliver?", "Yes.", "--also", "delivery?", "--link", "https://shop.example/d")
    (row,) = listed(shell)
    assert (row["questions"], row["text"], row["links"]) == (
        ["Do you deliver?", "delivery?"], "Yes.", ["https://shop.example/d"],
    )  # fmt: skip
    assert "Do you deliver?" in shell("list", "shop")
    shell("remove", "shop", str(row["id"]))
    assert listed(shell) == []
    with pytest.raises(StartError, match="no curated answer"):
        shell("remove", "shop", str(row["id"]))


def test_a_file_is_imported_and_imported_again_it_replaces(shell, tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text(
        'question,answer,alternatives\nOpen?,"Yes, daily","opening hours\nwhen open"\nDélai?,Deux jours,\n'
    )
    assert "Imported 2: 2 new" in shell("import", "shop", str(file))
    file.write_text("question,answer\nOpen?,No\n")
    shell("import", "shop", str(file))
    rows = {row["questions"][0]: row for row in listed(shell)}
    assert rows.keys() == {"Open?", "Délai?"}
    assert rows["Open?"]["text"] == "No"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question,text\na,b\n", "lacks the column answer"),
        ("question,answer\na,b\n,c\n", "line 3: write the question"),
        ("question,answer,links\na,b,here\n", "line 2: 'here' is not an address"),
        (b"\xff\xfe\x00", "line 1: this is not UTF-8"),
    ],
)
def test_a_file_with_a_fault_is_refused_whole(shell, tmp_path, text, said):
    file = tmp_path / "answers.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StartError, match=said):
        shell("import", "shop", str(file))
    assert listed(shell) == []


@pytest.mark.parametrize("name", ["answers.csv", "answers.jsonl"])
def test_what_is_exported_is_imported_as_it_was(shell, tmp_path, name):
    text = "=SUM(1)\n\n- a, \"b\"\n'quoted'"
    shell(
        "add", "shop", "Open?", text, "--also", "+when open", "--from", "2026-01-02", "--until", "2999-12-31"
    )
    before = listed(shell)
    shell("export", "shop", str(tmp_path / name))
    shell("remove", "shop", str(before[0]["id"]))
    assert "1 new" in shell("import", "shop", str(tmp_path / name))
    same = [{**row, "id": 0, "edited_at": ""} for row in listed(shell)]
    assert same == [{**row, "id": 0, "edited_at": ""} for row in before]


def test_an_unknown_site_is_named_with_those_that_are_known(shell):
    with pytest.raises(UnknownSite):
        shell("list", "nowhere")
