"""The examples of docs/extending.md run, so what they show can be copied."""

import argparse
import re
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from admin.page import Page
from crawler.extractors import Source
from server.domain.chunk import Changes, Chunk
from server.domain.question import Query, Question
from server.domain.site import Site
from server.indexes.vectors import ChromaVectorIndex, open_chroma
from server.indexes.words import SqlWordIndex
from server.models.embedded import EmbeddedEmbedder
from server.retrieval.parts import Parts
from server.settings import Settings
from server.storage.content import ContentStore, PageRecord
from server.storage.database import Database
from server.storage.sites import SiteStore

GUIDE = Path(__file__).parent.parent / "docs" / "extending.md"


@pytest.fixture
def example():
    """The example that belongs to a file, as a module."""

    def load(name):
        blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
        [code] = [block for block in blocks if block.startswith(f'"""{name}:')]
        module = ModuleType(Path(name).stem)
        exec(compile(code, name, "exec"), module.__dict__)
        return module

    return load


def test_every_example_is_run_here():
    named = re.findall(r'^```python\n"""([\w/.]+):', GUIDE.read_text(encoding="utf-8"), re.M)
    tested = re.findall(r'example\("([\w/.]+)"\)', Path(__file__).read_text(encoding="utf-8"))
    assert sorted(named) == sorted(tested)


def test_the_strategy_prefers_the_help_pages(example, tmp_path, model_cache):
    strategy_class = example("server/retrieval/help_first.py").HelpFirstStrategy
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    database.migrate()
    SiteStore(database).create(Site("shop", "Shop", "Shop", ("https://shop.example/",)))
    content = ContentStore(database, "shop")
    chroma = open_chroma(tmp_path / "chroma")
    embedder = EmbeddedEmbedder(model_cache)
    vectors = ChromaVectorIndex(chroma, "shop", embedder.fingerprint)
    strategy = strategy_class(Parts(embedder, vectors, SqlWordIndex(database, "shop"), content))
    text = "Parcels to islands take five working days."
    chunks = [
        Chunk(name, f"https://shop.example/{name}/delivery", "Delivery", (), text, 0, "en")
        for name in ("about", "help")
    ]
    strategy.index(Changes(tuple(chunks)))
    for chunk in chunks:
        page = PageRecord(chunk.url, chunk.title, "en", chunk.id, "", "", 0, datetime.now(UTC))
        content.put_page(page, [chunk], [])
    content.go_live()
    hits = strategy.retrieve(Query("How long do parcels to islands take?", "en"), 2)
    assert [hit.chunk.id for hit in hits] == ["help", "about"]
    strategy.forget(["help", "about"])
    assert strategy.retrieve(Query("parcels to islands", "en"), 2) == []
    chroma.close()


@pytest.mark.parametrize(
    ("asked", "allowed"), [("What does it cost?", True), ("See https://evil.example/x", False)]
)
def test_the_guard_refuses_web_addresses(example, asked, allowed):
    guard = example("server/guards/addresses.py").AddressGuard()
    verdict = guard.check(Question(asked, "shop"))
    assert verdict.allowed is allowed
    assert bool(verdict.reason) is not allowed


def test_the_extractor_reads_headings_and_paragraphs(example):
    extract = example("crawler/extractors/asciidoc.py").extract
    body = b"= Lamps\n\nWe sell lamps.\n\n== Prices\n\nA lamp\ncosts 19.90 EUR.\n"
    page = extract(Source("https://shop.example/lamps", body, "text/asciidoc")).page
    assert page.title == "Lamps"
    assert [(block.text, block.heading_path) for block in page.blocks] == [
        ("We sell lamps.", ("Lamps",)),
        ("A lamp costs 19.90 EUR.", ("Lamps", "Prices")),
    ]


def test_the_command_prints_the_data_folder(example, capsys, tmp_path):
    command = example("server/commands/where.py")
    parser = argparse.ArgumentParser(description=command.HELP)
    command.arguments(parser)
    assert command.run(parser.parse_args([]), Settings(data_dir=tmp_path)) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path)


def test_the_dashboard_page_has_a_menu_entry_and_a_route(example):
    page = example("admin/pages/languages.py").page
    assert isinstance(page, Page)
    assert (page.menu, page.routes[0].rule, page.public) == ("Languages", "/languages", False)
