"""Commands of the shell use the settings that were changed on the dashboard."""

import pytest

from server.__main__ import main
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings
from tests.websites import SHOP, Website, serve


@pytest.fixture
def change(tmp_path, monkeypatch):
    """Changes settings as an owner does on the dashboard, and adds a site."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))

    def run(values, *sites):
        runtime = open_runtime(load_settings())
        runtime.configuration.live.change(values, "ada@shop.example")
        for site in sites:
            runtime.stores.sites.create(site)
        runtime.close()

    return run


def test_a_new_site_asks_for_the_consent_that_the_dashboard_has(change, tmp_path):
    change({"consent_text": "I agree to the terms."})
    (tmp_path / "hours.md").write_text("# Opening hours\n\nThe shop opens at nine.")
    assert main(["sources", "add", "shop", "hours.md"]) == 0
    runtime = open_runtime(load_settings())
    assert runtime.stores.sites.get("shop").options["consent"]["text"] == "I agree to the terms."
    runtime.close()


def test_an_address_on_a_private_host_of_the_dashboard_is_explained(change, capsys, monkeypatch):
    monkeypatch.delenv("PRIVATE_HOSTS", raising=False)
    with serve(Website("Lantern Shop", SHOP)) as shop:
        change({"private_hosts": "127.0.0.1"}, Site("shop", "Lantern Shop", "", (f"{shop.url}/",)))
        assert main(["scope", "shop", "--explain", f"{shop.url}/delivery"]) == 0
    assert "which may be connected to" in capsys.readouterr().out
