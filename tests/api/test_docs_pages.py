import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

from server.api.docs.docs import FOLDER, MOVED, DocsLibrary, render
from server.domain.site import Site

SOURCE = """# First *title*

What it is, in `code` and
two lines.

## A section

| a | b |
|---|---|
| 1 | <script>alert(1)</script> |

```python
if a < b: pass
```

[next](other.md#part) [first](./index.md) [web](https://example.com/x.md) [same](#a-section)
"""


@pytest.fixture
def soup(client):
    def get(path):
        response = client.get(path)
        assert response.status_code == 200
        return BeautifulSoup(response.text, "lxml")

    return get


@pytest.fixture(scope="module")
def pages():
    return DocsLibrary().pages()


def test_a_page_knows_its_title_summary_and_sections():
    page = render("first", SOURCE)
    assert page.title == "First title"
    assert page.summary == "What it is, in code and two lines."
    assert page.sections == (("a-section", "A section"),)


def test_links_to_files_become_links_to_pages():
    html = BeautifulSoup(render("first", SOURCE).html, "lxml")
    links = {link.text: link["href"] for link in html.find_all("a")}
    assert links == {
        "next": "other.html#part",
        "first": "./",
        "web": "https://example.com/x.md",
        "same": "#a-section",
    }


def test_tables_and_code_are_rendered_and_nothing_is_run():
    html = render("first", SOURCE).html
    assert "<th>a</th>" in html
    assert "if a &lt; b: pass" in html
    assert "<script>" not in html


def test_pages_have_the_order_of_the_first_page_and_all_are_there(pages):
    names = [page.name for page in pages]
    assert names[0] == "index"
    assert sorted(names) == sorted(path.stem for path in FOLDER.glob("*.md"))
    linked = re.findall(
        r"^- \[[^]]+\]\(([\w-]+)\.md", (FOLDER / "index.md").read_text(encoding="utf-8"), re.M
    )
    assert linked
    assert [name for name in names if name in linked] == [
        name for name in dict.fromkeys(linked) if name in names
    ]


def test_a_link_in_running_text_does_not_change_the_order(tmp_path):
    (tmp_path / "index.md").write_text("# One\n\nSee [b](b.md).\n\n- [a](a.md)\n- [b](b.md)\n")
    for name in "ab":
        (tmp_path / f"{name}.md").write_text(f"# {name}")
    assert [page.name for page in DocsLibrary(tmp_path).pages()] == ["index", "a", "b"]


def test_a_changed_file_is_rendered_again(tmp_path):
    (tmp_path / "index.md").write_text("# One")
    library = DocsLibrary(tmp_path)
    assert library.pages()[0].title == "One"
    (tmp_path / "new.md").write_text("# Two")
    assert [page.title for page in library.pages()] == ["One", "Two"]


def test_every_page_is_whole(soup, pages):
    for page in pages:
        html = soup(page.address)
        assert html.html["lang"] == "en"
        assert html.title.text.startswith(page.title)
        assert len(html.find_all("main")) == 1
        assert [heading.text for heading in html.main.find_all("h1")] == [page.title]
        assert (
            html.find("nav", {"aria-label": "Documentation"}).find(attrs={"aria-current": "page"}).text
            == page.title
        )
        assert html.find("meta", {"name": "viewport"})
        assert html.find("meta", {"name": "description"})["content"]


def test_every_link_within_the_documentation_leads_somewhere(client, soup, pages):
    known = {page.address: {tag["id"] for tag in soup(page.address).find_all(id=True)} for page in pages}
    for page in pages:
        for link in soup(page.address).main.find_all("a", href=True):
            address, _, anchor = link["href"].partition("#")
            if ":" in address or address.startswith("/"):
                continue
            target = {"": page.address, "./": "/docs/"}.get(address, f"/docs/{address}")
            if target in known:
                assert not anchor or anchor in known[target], f"{page.name}: {link['href']}"
            else:
                assert client.get(target).status_code == 200, f"{page.name}: {link['href']}"


def test_one_page_leads_to_the_next_and_back(soup, pages):
    for before, after in pairwise(pages):
        assert soup(before.address).find(rel="next")["href"] == after.address
        assert soup(after.address).find(rel="prev")["href"] == before.address


def test_the_widget_is_on_the_pages_once_their_site_exists(client, runtime):
    assert "embed.js" not in client.get("/docs/").text
    runtime.stores.sites.create(
        Site(id="docs", name="Docs", title="Docent", start_urls=("http://localhost/docs/",))
    )
    assert '<script src="/widget/embed.js" data-site="docs" async></script>' in client.get("/docs/").text


def test_the_sitemap_names_every_page_at_the_address_that_was_asked(client, pages):
    response = client.get("/docs/sitemap.xml", base_url="http://127.0.0.1:8123")
    found = [
        element.text
        for element in ElementTree.fromstring(response.data).iter()
        if element.tag.endswith("loc")
    ]
    assert found == [f"http://127.0.0.1:8123{page.address}" for page in pages]


def test_crawlers_are_welcome_and_find_the_sitemap(client):
    text = client.get("/robots.txt", base_url="http://127.0.0.1:8123").text
    assert "Allow: /\n" in text
    assert "Sitemap: http://127.0.0.1:8123/docs/sitemap.xml\n" in text


def test_unchanged_pages_are_not_sent_again(client):
    etag = client.get("/docs/").headers["ETag"]
    assert client.get("/docs/", headers={"If-None-Match": etag}).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        *("nothing.html", "index.md", "../README.md", "%2e%2e/CHANGELOG.md", "images", "static/docs.css"),
        *("%00.css", "long" * 100 + ".css"),
    ],
)
def test_only_pages_and_pictures_are_served(client, path):
    assert client.get(f"/docs/{path}").status_code == 404


@pytest.mark.parametrize("name", MOVED)
def test_the_address_of_a_page_that_moved_leads_to_its_text(client, soup, name):
    response = client.get(f"/docs/{name}.html")
    assert response.status_code == 308
    page, _, anchor = response.headers["Location"].removeprefix("./").partition("#")
    html = soup(f"/docs/{page}")
    assert not anchor or html.find(id=anchor)


def test_pages_are_grouped_by_tasks(soup, pages):
    groups = [
        title.text for title in soup("/docs/").find("nav", {"aria-label": "Documentation"}).find_all("p")
    ]
    assert groups == [
        "Get started", "Embed", "Crawl", "Answer well", "Measure", "Run in production", "Extend", "Reference",
    ]  # fmt: skip
    assert all(page.group in groups for page in pages[1:])


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("backup", "/docs/operations.html#how-do-i-make-a-backup"),
        ("wordpress", "/docs/embedding.html#how-do-i-put-the-widget-into-wordpress"),
        ("robots.txt", "/docs/crawling.html#does-the-crawler-obey-robotstxt"),
        ("which port", "/docs/getting-started.html#how-do-i-change-the-port"),
    ],
)
def test_a_search_finds_the_section(soup, words, address):
    found = soup(f"/docs/search.html?q={words}").find("ol", "found").find_all("a")
    assert address in [link["href"] for link in found[:3]]


def test_a_search_shows_its_words_and_says_when_it_finds_nothing(soup):
    html = soup("/docs/search.html?q=%3Cb%3Exylophone")
    assert html.find("input", {"name": "q"})["value"] == "<b>xylophone"
    assert "Nothing was found" in html.main.text
    assert "Type a few words" in soup("/docs/search.html").main.text
    assert html.find("meta", {"name": "robots"})["content"] == "noindex"


def test_the_style_sheet_is_served(client):
    response = client.get("/docs/docs.css")
    assert (response.status_code, response.mimetype) == (200, "text/css")
