"""A removed site is gone for everybody at once, and soon nothing of it is left anywhere."""

import shutil
from types import SimpleNamespace

import pytest
from sqlalchemy import MetaData, select

from server.__main__ import main
from server.domain.question import Turn
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings
from server.storage.errors import SiteExists, UnknownSite
from tests.websites import SHOP, Website, serve

LOGS = {"audit"}
"""Tables that remember sites which are gone."""


@pytest.fixture(scope="module")
def two_shops(tmp_path_factory, model_cache):
    """A data folder with two crawled shops."""
    folder = tmp_path_factory.mktemp("shops")
    (folder / "models").symlink_to(model_cache)
    with serve(Website("Lantern Shop", SHOP)) as website:
        for site in ("shop", "shop-2"):
            crawl = ["crawl", f"{website.url}/", "--site", site, "--allow-private"]
            assert main(["--set", f"DATA_DIR={folder}", *crawl]) == 0
    return folder


@pytest.fixture
def runtime(two_shops, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(two_shops, folder, symlinks=True)
    made = open_runtime(load_settings({"DATA_DIR": str(folder)}))
    yield made
    made.close()


def rows_of(database, site_id):
    """Table -> rows that name the site, in every table there is."""
    found = {}
    with database.connect() as connection:
        everything = MetaData()
        everything.reflect(connection)
        for table in everything.sorted_tables:
            name = "id" if table.name == "sites" else "site_id"
            if name in table.c and table.name not in LOGS:
                of_site = select(table).where(table.c[name].in_([site_id, f"{site_id}/questions"]))
                if count := len(connection.execute(of_site).all()):
                    found[table.name] = count
    return found


def collections(runtime, site_id):
    names = [one.name for one in runtime.engine.vector_store.chroma.client.list_collections()]
    return [name for name in names if name.split(".")[0] == site_id]


def talk(runtime, site_id="shop"):
    """A visitor's question with its answer, thumb and message to people."""
    site = runtime.stores.sites.get(site_id)
    exchange = runtime.chat.ask(site, "How long do parcels to islands take?", visitor_id="v")
    list(exchange.events())
    runtime.dialogue.feedback.put(exchange.message_id, "v", helpful=False)
    runtime.stores.incidents.record(site_id, "timeout", "slow")
    return SimpleNamespace(id=exchange.conversation_id)


def removed(runtime, site_id):
    runtime.crawling.remove_site_now(site_id)


def test_nothing_of_a_removed_site_is_left_and_another_one_keeps_all(runtime):
    talked = talk(runtime)
    kept = talk(runtime, "shop-2")
    before = rows_of(runtime.database, "shop-2")
    assert {"pages", "chunks", "messages", "crawls", "word_postings"} <= rows_of(
        runtime.database, "shop"
    ).keys()
    removed(runtime, "shop")
    assert rows_of(runtime.database, "shop") == {}
    assert collections(runtime, "shop") == []
    assert runtime.engine.history.turns(talked.id) == ()
    assert rows_of(runtime.database, "shop-2") == before
    assert collections(runtime, "shop-2")
    assert len(runtime.engine.history.turns(kept.id)) == 1


def test_a_site_is_gone_for_everybody_as_soon_as_it_is_removed(runtime):
    runtime.crawling.remove_site("shop")
    assert runtime.stores.sites.find("shop") is None
    assert [site.id for site in runtime.stores.sites.all()] == ["shop-2"]
    with pytest.raises(UnknownSite):
        runtime.crawling.remove_site("shop")
    with pytest.raises(SiteExists, match="is still being removed"):
        runtime.stores.sites.create(Site("shop", "Shop", ""))
    runtime.crawling.finish_removal("shop")
    runtime.stores.sites.create(Site("shop", "Shop", ""))


def test_a_removal_that_was_cut_off_is_done_by_the_next_worker(runtime, monkeypatch):
    def cut_off(site_id):
        raise KeyboardInterrupt

    runtime.crawling.remove_site("shop")
    monkeypatch.setattr(runtime.crawling._removal, "_drop_indexes", cut_off)
    with pytest.raises(KeyboardInterrupt):
        runtime.crawling.finish_removal("shop")
    monkeypatch.undo()
    assert runtime.stores.sites.leaving() == ["shop"]
    runtime.crawling.finish_removal("shop")
    assert rows_of(runtime.database, "shop") == {}


def test_removing_what_is_gone_already_does_nothing(runtime):
    removed(runtime, "shop")
    runtime.crawling.finish_removal("shop")
    runtime.crawling.finish_removal("shop-2")
    assert runtime.stores.sites.get("shop-2").generation


def test_more_rows_than_go_at_once_all_go(runtime, monkeypatch):
    monkeypatch.setattr("server.storage.sites.sites.CHUNKS", 2)
    monkeypatch.setattr("server.storage.sites.sites.ADDRESSES", 2)
    monkeypatch.setattr("server.storage.sites.sites.CONVERSATIONS", 1)
    for _ in range(3):
        talk(runtime)
    removed(runtime, "shop")
    assert rows_of(runtime.database, "shop") == {}


def test_conversations_of_a_removed_site_are_not_remembered(runtime):
    talked = talk(runtime)
    runtime.engine.history.add(talked.id, Turn("And then?", "Then.", "", "en"))
    assert runtime.engine.history.turns(talked.id)
    removed(runtime, "shop")
    assert runtime.engine.history.turns(talked.id) == ()


def test_the_command_removes_a_site_only_when_it_is_meant(two_shops, tmp_path, capsys):
    folder = tmp_path / "data"
    shutil.copytree(two_shops, folder, symlinks=True)
    asked = ["--set", f"DATA_DIR={folder}", "sites", "remove", "shop"]
    assert main(asked) == 1
    assert "would be removed for good" in capsys.readouterr().out
    assert main([*asked, "--yes"]) == 0
    assert "is removed with" in capsys.readouterr().out
    assert main(asked) == 1
    assert "there is no site 'shop'" in capsys.readouterr().err
