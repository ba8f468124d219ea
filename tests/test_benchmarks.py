"""What a benchmark says when it has nothing to measure."""

import pytest

from benchmarks import crawl_speed


def test_crawl_speed_says_that_a_folder_has_no_pages(tmp_path, monkeypatch, capsys):
    (tmp_path / "notes.txt").write_text("No page.", "utf-8")
    monkeypatch.setattr("sys.argv", ["crawl_speed", str(tmp_path), "--rounds", "1"])
    with pytest.raises(SystemExit):
        crawl_speed.main()
    assert f"{tmp_path} has no .html file" in capsys.readouterr().err
