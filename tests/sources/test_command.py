"""`python -m server sources`."""

import pytest

from server.__main__ import main
from server.runtime.runtime import open_runtime
from server.settings import Settings


@pytest.fixture
def shell(tmp_path, model_cache, capsys):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models").symlink_to(model_cache)

    def run(*arguments):
        code = main(
            [
                "--set",
                f"DATA_DIR={tmp_path / 'data'}",
                "--set",
                f"SOURCES_FOLDERS={tmp_path}",
                "sources",
                *map(str, arguments),
            ]
        )
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def runtime(tmp_path):
    made = open_runtime(Settings.of(data_dir=tmp_path / "data"))
    yield made
    made.close()


def test_a_site_is_made_of_a_folder_and_answers_and_listed_and_emptied(shell, tmp_path):
    folder = tmp_path / "manual"
    folder.mkdir()
    (folder / "guide.md").write_text("# Guide\n\nThe lamp is cleaned with a dry cloth.\n")
    (folder / "logo.png").write_bytes(b"x")
    (tmp_path / "faq.csv").write_text("question,answer\nAre you open on Sunday?,No.\n")
    code, out, _ = shell("add", "lamps", folder, "--pairs", tmp_path / "faq.csv", "--now")
    assert code == 0
    assert "pages: 2 indexed" in out
    code, out, _ = shell("list", "lamps")
    lines = {line.split("\t")[1]: line.split("\t") for line in out.splitlines()}
    assert lines["folder"][2:] == [str(folder), "1 fetched, 1 unsupported"]
    assert lines["pairs"][2:] == ["faq.csv", "1 fetched"]
    code, out, _ = shell("remove", "lamps", lines["pairs"][0], "--now")
    assert code == 0
    assert "1 unchanged, 1 removed" in out


def test_a_change_queues_a_refresh(shell, runtime, tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nText.")
    code, out, _ = shell("add", "lamps", tmp_path / "a.md")
    assert (code, runtime.stores.crawls.latest("lamps").state) == (0, "waiting")
    assert "job worker" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "lamps"], "say what to add"),
        (["add", "lamps", "nowhere.md"], "there is no file or folder nowhere.md"),
        (["add", "lamps", "EMPTY"], "there is no HTML, Markdown, text, PDF or DOCX file to read"),
        (["add", "lamps", "FILE"], "only HTML, Markdown, text, PDF and DOCX files are read"),
        (["add", "Lamps!", "GOOD"], "lower-case letters"),
        (["list", "lamps"], "there is no site 'lamps'"),
        (["remove", "lamps", "x"], "has no source 'x'"),
    ],
)
def test_what_is_wrong_is_one_line_and_changes_nothing(shell, runtime, tmp_path, arguments, says):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.xyz").write_text("x")
    (tmp_path / "good.md").write_text("Text.")
    places = {"EMPTY": tmp_path / "empty", "FILE": tmp_path / "file.xyz", "GOOD": tmp_path / "good.md"}
    code, _, told = shell(*(places.get(argument, argument) for argument in arguments))
    assert code == 1
    assert says in told
    assert told.count("\n") == 1
    assert runtime.stores.sites.all() == []
