"""The site that a server adds when it starts: that of SITE, once."""

from contextlib import closing

import pytest

from server.commands.onboarding import _first_site, _print_addresses
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.sites.sites import remove_site_rows

SITE = "https://shop.example"


@pytest.fixture
def start(tmp_path):
    """Starts a server with this SITE and a data folder; returns the ids of all sites, and of the one shown."""

    def started(site=SITE, folder="data", *, remove=()):
        with closing(open_runtime(Settings.of(data_dir=tmp_path / folder, site=site))) as runtime:
            for id in remove:
                remove_site_rows(runtime.database, id)
            shown, _ = _first_site(runtime.settings, runtime)
            return [one.id for one in runtime.stores.sites.all()], shown

    return started


def test_a_site_that_was_removed_does_not_come_back_at_the_next_start(start):
    assert start() == (["shop-example"], "shop-example")
    assert start() == (["shop-example"], "shop-example")
    assert start(remove=["shop-example"]) == ([], "")
    assert start() == ([], "")


def test_a_site_that_was_there_before_its_adding_was_noted_does_not_come_back(start, tmp_path):
    start("https://other.example")
    with closing(open_runtime(Settings.of(data_dir=tmp_path / "data"))) as runtime:
        [other] = runtime.stores.sites.all()
    assert start(f"{other.start_urls[0]}#again") == (["other-example"], "other-example")
    assert start(f"{other.start_urls[0]}#again", remove=["other-example"]) == ([], "")


def test_another_address_and_an_empty_database_get_their_site(start):
    start()
    assert start("https://other.example", remove=["shop-example"])[0] == ["other-example"]
    assert start(folder="new")[0] == ["shop-example"]


def test_without_a_site_the_addresses_are_shown_all_the_same(tmp_path, capsys):
    settings = Settings.of(data_dir=tmp_path, site=SITE)
    with closing(open_runtime(settings)) as runtime:
        _print_addresses(settings, runtime, "", 1.0)
    said = capsys.readouterr().out
    assert "/admin/" in said
    assert "/demo/" not in said
