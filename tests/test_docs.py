"""The documentation is complete and true, and no link is broken."""

import argparse
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from flask import Flask
from markdown_it import MarkdownIt

from admin.overview.health import KINDS
from admin.table import PAGES
from crawler.command_line import parser as crawler_parser
from crawler.report import UrlState
from server.answering.flows.table import FLOWS
from server.answering.grading import DEFAULT_FLOOR
from server.api.docs.docs import DocsLibrary, render
from server.api.errors import CODES
from server.api.routes import register_routes
from server.commands import COMMANDS
from server.domain.answer import Outcome
from server.guards.table import GUARDS
from server.retrieval.table import STRATEGIES
from server.settings import SETTINGS
from server.settings.documents import env_example, settings_page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES_OF_DOCS = sorted(DOCS.glob("*.md"))
TEXTS = [*PAGES_OF_DOCS, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
MARKDOWN = MarkdownIt("commonmark").enable("table")


def text(name):
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def named_in(name):
    """Everything between backticks on a page."""
    return set(re.findall(r"`([^`\n]+)`", text(name)))


def rows(source):
    """Cells of all table rows, without those of rulers."""
    lines = [line for line in re.findall(r"^\|(.+)\|$", source, re.M) if not set(line) <= set("|- ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]


def file_name(path):
    return path.relative_to(ROOT).as_posix()


# --- Settings


def test_env_example_is_what_the_settings_say():
    assert (ROOT / "env.example").read_text(encoding="utf-8") == env_example(), (
        "run: .venv/bin/python -m server settings > env.example"
    )


def test_the_page_of_the_settings_is_what_they_say():
    assert text("settings") == settings_page(), (
        "run: .venv/bin/python -m server settings --docs > docs/settings.md"
    )


def test_every_setting_is_documented_with_its_default_and_meaning():
    tables = [row for row in rows(text("settings")) if len(row) == 4]
    documented = {name.strip("`"): (default.strip("`"), meaning) for name, default, _, meaning in tables}
    for name, field in SETTINGS.items():
        default = str(int(field.default) if isinstance(field.default, bool) else field.default)
        assert documented.get(name.upper()) == (default or "empty", field.description), name.upper()


def test_no_setting_is_invented():
    known = {name.upper() for name in SETTINGS}
    known |= {f"{name.upper()}_FILE" for name, setting in SETTINGS.items() if setting.is_secret}
    known |= set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text(encoding="utf-8")))
    others = {"CHAT_MODELS", "ERR_4031", "DOCENT_SCREENSHOTS"}  # plug-ins, an error code, for tests only
    others |= {"OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_TRACES_SAMPLER"}  # OpenTelemetry's
    invented = set()
    for path in TEXTS:
        source = path.read_text(encoding="utf-8")
        named = set(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:=[^`]*)?`", source))
        named |= set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", source, re.M)) - {"TOKEN"}
        invented |= {(file_name(path), name) for name in named - known - others}
    assert invented == set()


# --- Commands


def options_of(parser):
    return {name for action in parser._actions for name in action.option_strings} - {"-h", "--help"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_with_all_its_options(name):
    source = text("commands")
    assert f"\n## {name}\n" in source
    assert [name] == [row[0].strip("`") for row in rows(source) if row[0] == f"`{name}`"]
    section = source.split(f"\n## {name}\n")[1].split("\n## ")[0]
    parser = argparse.ArgumentParser()
    import_module(f"server.commands.{name}").arguments(parser)
    assert set(re.findall(r"^\| `(--[\w-]+)", section, re.M)) == options_of(parser)


def test_the_crawlers_own_command_is_documented_with_all_its_options():
    section = text("commands").split("\n## python -m crawler\n")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(--[\w-]+)", section, re.M)) == options_of(crawler_parser())


def test_no_command_is_invented():
    command = re.compile(r"python -m server(?: --set \S+)* ([a-z]+)")
    used = {
        (file_name(path), name)
        for path in TEXTS
        for name in command.findall(path.read_text(encoding="utf-8"))
    }
    assert {one for one in used if one[1] not in COMMANDS} == set()


# --- API


@pytest.fixture(scope="module")
def routes():
    app = Flask("routes")
    register_routes(app)
    return {
        f"{method} {rule.rule.replace('<', '{').replace('>', '}')}"
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.endpoint != "static"
    }


def test_every_route_of_the_api_is_documented_and_none_is_invented(routes):
    documented = {row[0].strip("`") for row in rows(text("api")) if re.match(r"`[A-Z]+ /", row[0])}
    assert documented == routes


def test_every_error_of_the_api_is_documented_and_none_is_invented():
    documented = {(row[0], row[1].strip("`")) for row in rows(text("api")) if re.fullmatch(r"\d{3}", row[0])}
    raised = {(str(status), code) for status, code in CODES.items()}
    for path in (ROOT / "server" / "api").rglob("*.py"):
        if path.name != "demo.py":  # its failures are pages for people
            source = path.read_text(encoding="utf-8")
            raised |= set(re.findall(r'ApiError\(\s*(\d{3}),\s*"(\w+)"', source))
    assert documented == raised


# --- Tables of plug-ins, states and outcomes


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("strategies", list(STRATEGIES)),
        ("answers", list(GUARDS)),
        ("answers", list(FLOWS)),
        ("answers", [outcome.value for outcome in Outcome]),
        ("crawling", [state.value for state in UrlState]),
        ("troubleshooting", [kind for kind in KINDS if kind != "crawl_failed"]),
    ],
    ids=["strategies", "guards", "flows", "outcomes", "crawl states", "incidents"],
)
def test_every_name_of_a_table_is_documented(page, names):
    assert names
    assert set(names) <= named_in(page), set(names) - named_in(page)


def test_the_built_in_relevance_floor_is_documented():
    assert f"the built-in default, which is {DEFAULT_FLOOR}." in " ".join(text("answers").split())


def test_every_menu_entry_of_the_dashboard_is_documented():
    described = {row[0] for row in rows(text("dashboard"))}
    assert {str(page.menu) for page in PAGES if page.menu} <= described


def test_what_the_documentation_tells_to_press_is_on_the_dashboard():
    with (ROOT / "admin" / "translations" / "de.po").open("rb") as file:
        texts = [
            text
            for message in read_po(file, locale="de")
            for text in ([message.id] if isinstance(message.id, str) else message.id)
        ]
    labels = {label.strip(".") for text in texts for label in (text, *re.split(r":| \(| %\(", text)[:1])}
    pages = (
        "dashboard",
        "conversations",
        "gaps",
        "content",
        "people",
        "widget-settings",
        "contact",
        "quality",
        "playground",
    )
    told = re.compile(r'(?:press|presses|choose|under|tab|button) "([^"]+?)[.,]?"')
    unknown = {
        (page, name)
        for page in pages
        for name in told.findall(" ".join(text(page).split()))
        if name.replace("'", "’") not in labels and name not in labels
    }
    assert unknown == set()


def test_every_page_of_the_dashboard_has_help_that_exists():
    for page in PAGES:
        assert not (page.menu or page.tab or page.section) or page.help, page.endpoint
    for target in filter(None, (page.help for page in PAGES)):
        name, _, anchor = target.partition("#")
        assert not anchor or anchor in anchors(DOCS / f"{name}.md"), target
        assert (DOCS / f"{name}.md").exists(), target


def test_every_attribute_of_the_embed_tag_is_documented_and_none_is_invented():
    loader = (ROOT / "widget" / "embed.js").read_text(encoding="utf-8")
    element = (ROOT / "widget" / "src" / "site-chat.js").read_text(encoding="utf-8")
    # The loader hands all attributes of the tag to the element.
    by_loader = re.search(r"const \{ (.+) \} = script\.dataset", loader)[1]
    by_element = re.search(r"observedAttributes = \[(.+)\]", element)[1]
    read = re.findall(r"\w+", by_loader + by_element)
    documented = {row[0].strip("`") for row in rows(text("widget")) if row[0].startswith("`data-")}
    assert documented == {f"data-{name}" for name in read}


# --- Pages and links


@cache
def links(path):
    """Addresses of all links and images of a Markdown file."""
    return [
        str(child.attrs.get("href") or child.attrs.get("src"))
        for token in MARKDOWN.parse(path.read_text(encoding="utf-8"))
        for child in token.children or ()
        if child.type in ("link_open", "image")
    ]


@cache
def anchors(path):
    html = render(path.stem, path.read_text(encoding="utf-8")).html
    return re.findall(r'<h\d id="([^"]+)"', html)


def leads_somewhere(path, link):
    target, _, anchor = link.partition("#")
    file = (path.parent / target).resolve() if target else path
    return file.exists() and (not anchor or anchor in anchors(file))


def test_every_link_leads_somewhere():
    inside = [(path, link) for path in TEXTS for link in links(path) if not re.match(r"\w+:", link)]
    assert len(inside) > 100
    assert [(file_name(path), link) for path, link in inside if not leads_somewhere(path, link)] == []


def test_pages_link_only_to_what_is_served_beside_them():
    served = re.compile(r"https?://|#|[\w-]+\.md(#|$)|images/[\w-]+\.\w+$")
    found = [(path.name, link) for path in PAGES_OF_DOCS for link in links(path)]
    assert [one for one in found if not served.match(one[1])] == []


def test_a_page_has_one_title_first_and_no_heading_twice():
    wrong = []
    for path in TEXTS:
        source = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        headings = re.findall(r"^#+ (.+)$", source, re.M)
        twice = {heading for heading in headings if headings.count(heading) > 1}
        if twice or not source.startswith("# ") or len(re.findall(r"^# ", source, re.M)) != 1:
            wrong.append((file_name(path), twice))
    assert wrong == []


def test_a_page_begins_with_what_one_has_at_its_end():
    wrong = []
    for path in PAGES_OF_DOCS:
        first = " ".join(path.read_text(encoding="utf-8").split("\n\n")[1].split())
        # The first page begins with what Docent is, which is what the chat on it says of itself.
        at = first.find("After this page ")
        wrong += [path.name] if at < 0 or (at > 0 and path.stem != "index") else []
    assert wrong == []


def test_every_page_is_linked_from_the_first_one():
    linked = {link.partition("#")[0] for link in links(DOCS / "index.md")}
    assert linked == {path.name for path in PAGES_OF_DOCS} - {"index.md"}


def test_every_page_is_served_with_its_title():
    served = {page.name: page.title for page in DocsLibrary().pages()}
    for path in PAGES_OF_DOCS:
        assert served[path.stem] == path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")


def test_files_and_folders_that_are_named_exist():
    place = re.compile(r"`((?:server|crawler|admin|widget|tests|docs|benchmarks)/[\w./-]*)`")
    missing = []
    for path in TEXTS:
        source = re.sub(r"^```python.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        missing += [(file_name(path), name) for name in place.findall(source) if not (ROOT / name).exists()]
    assert missing == []


# --- Architecture


def test_the_reading_tour_leads_through_ten_files_that_exist():
    tour = text("architecture").split("## In which order")[1].split("\n## ")[0]
    files = re.findall(r"^\d+\. `([\w./-]+)`", tour, re.M)
    assert len(files) == 10
    assert [name for name in files if not (ROOT / name).is_file()] == []
