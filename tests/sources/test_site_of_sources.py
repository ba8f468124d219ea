"""Files, folders, addresses and pairs become pages that visitors are answered from."""

import re
from urllib.parse import unquote, urlsplit

import pytest

from server.domain.site import Site
from server.runtime.configuration import LiveSettings
from server.storage.setting_overrides import OverrideStore
from tests.crawler.files import LOREM, pdf, word
from tests.websites import Website, serve

GUIDE = b"""# Lamp guide

Welcome to the guide of the Lantern Shop.

## Cleaning the glass

The glass of the lamp is cleaned with a dry cotton cloth. Water harms the coating.

## Changing the bulb

Switch the lamp off and wait ten minutes before you change the bulb.
"""
PAIRS = """Q: Do you deliver on Saturdays?
A: Yes, parcels are delivered on Saturdays until noon.

Q: Which bulbs fit the Glow Mini?
A: Bulbs with the socket E14 and at most 40 watts.
"""


def test_an_uploaded_file_is_answered_from_and_its_citation_opens_the_sentence(owner):
    owner.upload("guide.md", GUIDE)
    assert owner.refresh().state == "done"
    browser = owner.browser
    token = browser.post("/api/v1/visitors", json={"site": "shop"}).json["token"]
    asked = {"message": "How do I clean the glass of the lamp?", "stream": False}
    headers = {"Authorization": f"Bearer {token}"}
    answer = browser.post("/api/v1/chat", json=asked, headers=headers).json
    assert "dry cotton cloth" in answer["answer"]
    assert answer["citations"][0]["link"].replace("&", "&amp;") in answer["answer_html"]
    link = urlsplit(answer["citations"][0]["link"])
    assert f"{link.scheme}://{link.netloc}" == owner.runtime.configuration.settings.serving.base_url
    assert link.path.startswith("/sources/shop/")
    anchor, _, directive = link.fragment.partition(":~:text=")
    shown = browser.get(link.path)
    assert shown.status_code == 200
    assert f'<h2 id="{anchor}">Cleaning the glass</h2>' in shown.text
    assert unquote(directive).partition(",")[0] in re.sub(r"<[^>]+>", "", shown.text)


def test_the_address_of_a_citation_follows_the_public_url(owner):
    owner.upload("guide.md", GUIDE)
    owner.refresh()
    path = urlsplit(owner.answer("How do I clean the glass of the lamp?").citations[0].url).path
    moved = owner.runtime.configuration.settings.with_values(
        {"public_url": "https://chat.example.com/docent"}
    )
    runtime = owner.runtime
    runtime.configuration.live = LiveSettings(
        moved, OverrideStore(runtime.database), lambda: runtime.configuration.seal
    )
    owner.runtime.engine._pipelines.clear()
    again = owner.answer("How do I clean the glass of the lamp?").citations[0]
    assert again.url == f"https://chat.example.com/docent{path}"
    assert again.link.startswith(again.url + "#cleaning-the-glass:~:text=")


def test_all_kinds_of_files_become_pages(owner):
    owner.upload("guide.md", GUIDE)
    owner.upload("terms.txt", b"Terms of use\n\nThe lamp is lent and not sold, for thirty days at most.\n")
    owner.upload("care.pdf", pdf([[("h1", "Care of lamps"), ("p", LOREM)]]))
    owner.upload("warranty.docx", word(lambda d: d.add_paragraph("The warranty lasts five years.")))
    owner.upload("page.html", b"<html><head><title>About us</title></head><body><main><h1>About us</h1><p>The shop "
                 b"was founded in 1923 by two sisters.</p></main></body></html>")  # fmt: skip
    owner.refresh()
    assert owner.titles() == {"Lamp guide", "Terms of use", "Care of lamps", "warranty", "About us"}
    assert owner.runtime.stores.sites.get("shop").origins == ()


def test_a_citation_of_a_pdf_opens_its_page(owner):
    owner.upload(
        "care.pdf", pdf([[("p", LOREM)], [("p", "The battery of the lantern lasts for ninety hours.")]])
    )
    owner.refresh()
    citation = owner.answer("How long does the battery of the lantern last?").citations[0]
    link = urlsplit(citation.link)
    assert link.fragment.startswith("page=2:~:text=")
    browser = owner.browser
    assert 'id="page=2"' in browser.get(link.path).text
    file = browser.get(f"{link.path}/file")
    assert file.mimetype == "application/pdf"
    assert file.data.startswith(b"%PDF-")


def test_pasted_pairs_are_found_by_their_questions(owner):
    owner.paste("Common questions", PAIRS)
    owner.refresh()
    assert owner.titles() == {"Do you deliver on Saturdays?", "Which bulbs fit the Glow Mini?"}
    answer = owner.answer("do you deliver on saturday")
    assert "until noon" in answer.text
    assert answer.citations[0].title == "Do you deliver on Saturdays?"


def test_what_has_not_changed_costs_no_embedding(owner):
    owner.upload("guide.md", GUIDE)
    owner.paste("Common questions", PAIRS)
    owner.refresh()
    assert "pages: 0 indexed, 3 unchanged, 0 removed; sections: 0 new" in owner.refresh().message
    owner.upload("guide.md", GUIDE.replace(b"ten minutes", b"twenty minutes"))
    assert owner.refresh().message.startswith(
        "pages: 1 indexed, 2 unchanged, 0 removed; sections: 1 new, 1 removed"
    )


def test_pages_of_a_removed_source_leave_the_index_and_the_database(owner):
    kept, gone = owner.upload("guide.md", GUIDE), owner.paste("Common questions", PAIRS)
    owner.refresh()
    paths = owner.urls()
    owner.runtime.stores.sources.remove("shop", gone.id)
    owner.refresh()
    assert owner.titles() == {"Lamp guide"}
    browser = owner.browser
    assert sorted(browser.get(path).status_code for path in paths) == [200, 404, 404]
    assert owner.runtime.stores.sources.size("shop") == len(GUIDE)
    owner.runtime.stores.sources.remove("shop", kept.id)
    assert owner.refresh().state == "done"
    assert owner.urls() == set()
    assert owner.runtime.stores.sources.size("shop") == 0


def test_only_what_is_live_is_served(owner):
    owner.upload("guide.md", GUIDE)
    owner.refresh()
    (path,) = owner.urls()
    owner.upload("guide.md", GUIDE.replace(b"cotton", b"woollen"))
    assert "cotton" in owner.browser.get(path).text
    owner.refresh()
    assert "woollen" in owner.browser.get(path).text
    assert owner.browser.get("/sources/shop/0123456789abcdef").status_code == 404
    assert owner.browser.get(path.replace("shop", "other")).status_code == 404


def test_a_file_that_cannot_be_read_is_told_with_its_reason(owner):
    good, scan = owner.upload("guide.md", GUIDE), owner.upload("broken.pdf", b"%PDF-1.7 nothing")
    assert owner.refresh().state == "done"
    assert owner.items(good)["guide.md"][0] == "fetched"
    state, reason = owner.items(scan)["broken.pdf"]
    assert state == "error"
    assert "damaged" in reason


def test_a_site_whose_sources_give_nothing_fails_and_says_so(owner):
    owner.upload("broken.pdf", b"%PDF-1.7 nothing")
    run = owner.refresh()
    assert run.state == "failed"
    assert "Sources" in run.message


def test_the_same_file_under_two_names_is_one_page(owner):
    owner.upload("a.md", GUIDE)
    second = owner.upload("b.md", GUIDE)
    owner.refresh()
    assert len(owner.urls()) == 1
    assert owner.items(second)["b.md"] == ("duplicate", "same content as a.md")


def test_a_folder_is_read_again_each_time(owner, tmp_path):
    folder = tmp_path / "manual"
    (folder / "more").mkdir(parents=True)
    (folder / "guide.md").write_bytes(GUIDE)
    (folder / "more" / "terms.txt").write_text("Terms\n\nThe lamp is lent for thirty days.")
    (folder / "more" / "logo.png").write_bytes(b"\x89PNG")
    source = owner.add_folder(folder)
    owner.refresh()
    assert owner.titles() == {"Lamp guide", "Terms"}
    assert owner.items(source)["more/logo.png"][0] == "unsupported"
    (folder / "more" / "terms.txt").unlink()
    assert "1 unchanged, 1 removed" in owner.refresh().message
    (folder / "guide.md").rename(tmp_path / "elsewhere.md")
    (folder / "more").rename(tmp_path / "more")
    folder.rmdir()
    assert "1 unchanged, 0 removed" in owner.refresh().message
    assert "cannot be read" in owner.runtime.stores.sources.get("shop", source.id).message
    assert owner.browser.get(next(iter(owner.urls()))).status_code == 200


def test_a_folder_with_a_public_address_is_cited_there(owner, tmp_path):
    folder = tmp_path / "manual"
    (folder / "how to").mkdir(parents=True)
    (folder / "how to" / "guide.md").write_bytes(GUIDE)
    owner.add_folder(folder, base="https://example.com/manual/")
    owner.refresh()
    assert owner.urls() == {"https://example.com/manual/how%20to/guide.md"}
    citation = owner.answer("How do I clean the glass of the lamp?").citations[0]
    assert citation.link.startswith("https://example.com/manual/how%20to/guide.md#cleaning-the-glass:~:text=")


PAGES = {
    "/a": ("Opening hours", "<p>The shop opens at nine. See <a href='/b'>more</a>.</p>"),
    "/b": ("Directions", "<p>The shop lies behind the town hall of the old city.</p>"),
}


@pytest.fixture
def website():
    with serve(Website("Lantern Shop", PAGES)) as site:
        yield site


def test_of_a_list_of_addresses_only_these_are_read(owner, website):
    source = owner.list_addresses("Two pages", f"{website.url}/a", f"{website.url}/gone")
    owner.refresh()
    assert owner.urls() == {f"{website.url}/a"}
    assert owner.items(source)[f"{website.url}/gone"][0] == "gone"
    assert "nine" in owner.answer("When does the shop open?").text


def test_an_address_is_removed_when_it_was_missing_twice(owner, website):
    owner.list_addresses("A page", f"{website.url}/a", f"{website.url}/b")
    owner.refresh()
    del website.pages["/a"]
    assert "2 unchanged, 0 removed" in owner.refresh().message
    assert "1 unchanged, 1 removed" in owner.refresh().message
    assert owner.urls() == {f"{website.url}/b"}


def test_a_website_and_sources_are_one_site(owner, website):
    owner.runtime.stores.sites.create(Site("both", "Both", "", (f"{website.url}/a",)))
    owner.runtime.stores.sources.put("both", "file", "guide.md", GUIDE, most_bytes=1_000_000)
    owner.runtime.stores.sources.put(
        "both", "urls", "List", f"{website.url}/b".encode(), most_bytes=1_000_000
    )
    for _ in range(2):
        owner.runtime.crawling.refresh("both", owner.runtime.stores.crawls.wait("both"))
        assert owner.runtime.stores.crawls.latest("both").state == "done"
        assert {page.title for page in owner.runtime.stores.content("both").pages()} == {
            "Opening hours",
            "Directions",
            "Lamp guide",
        }
