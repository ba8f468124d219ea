"""`python -m server crawl URL` crawls the address that is given, and not the one that failed before."""

import pytest

from tests.journey.conftest import Docent
from tests.websites import Website, serve

PAGES = {
    "/spa.html": ("Start", "<p>The cable car runs every ten minutes from eight in the morning.</p>"),
    "/fares.html": ("Fares", "<p>A ride up costs nine euros, and a ride up and down costs fourteen.</p>"),
}


class Cables(Website):
    """A website with a picture that is no page."""

    def answer(self, path):
        return (200, "image/png", b"\x89PNG\r\n") if path == "/pic.png" else super().answer(path)


@pytest.fixture
def website():
    with serve(Cables("Cable Car", PAGES)) as served:
        yield served


def test_the_address_that_is_given_is_crawled(website, tmp_path):
    docent = Docent(tmp_path / "data", CRAWL_ALLOW_PRIVATE="1", CRAWL_RENDER="never")
    failed = docent.shell("crawl", f"{website.url}/pic.png")
    assert failed.returncode == 1, failed.stdout
    mended = docent.shell("crawl", f"{website.url}/spa.html")
    assert mended.returncode == 0, mended.stderr
    assert f"starts at {website.url}/spa.html from now on" in mended.stderr
    assert ": 1 pages," in mended.stdout
    further = docent.shell("crawl", f"{website.url}/fares.html")
    assert further.returncode == 0, further.stderr
    assert ": 2 pages," in further.stdout, "what is live stays"


def test_a_mistyped_id_of_a_site_adds_no_site(tmp_path):
    docent = Docent(tmp_path / "data")
    failed = docent.shell("crawl", "nonsense")
    assert failed.returncode == 1, failed.stdout
    assert '"https://nonsense" is no web address' in failed.stderr
    assert "nonsense" not in docent.shell("sites").stdout
