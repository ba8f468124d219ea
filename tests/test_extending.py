"""The examples of docs/extending.md run, so what they show can be copied."""

import argparse
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from admin.page import Page
from crawler.extractors import Source
from server.domain.question import Question
from server.settings import Settings
from tests.strategy_shop import Shop, chunk

GUIDE = Path(__file__).parent.parent / "docs" / "extending.md"


@pytest.fixture
def example(monkeypatch):
    """The example that belongs to a file, as a module."""

    def load(name):
        blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
        [code] = [block for block in blocks if block.startswith(f'"""{name}:')]
        module = ModuleType(Path(name).stem)
        monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
        exec(compile(code, name, "exec"), module.__dict__)
        return module

    return load


def test_every_example_is_run_here():
    named = re.findall(r'^```python\n"""([\w/.]+):', GUIDE.read_text(encoding="utf-8"), re.M)
    tested = re.findall(r'example\("([\w/.]+)"\)', Path(__file__).read_text(encoding="utf-8"))
    assert sorted(named) == sorted(tested)


def test_the_strategy_prefers_the_help_pages(example, tmp_path, model_cache):
    shop = Shop(example("server/retrieval/help_first.py").HELP_FIRST.make, tmp_path, model_cache)
    text = "Parcels to islands take five working days."
    shop.change(*(chunk(f"{name}/delivery", text, title="Delivery") for name in ("about", "help")))
    hits = shop.found("How long do parcels to islands take?")
    assert [hit.chunk.id for hit in hits] == ["help/delivery", "about/delivery"]
    shop.change(removed=["help/delivery", "about/delivery"])
    assert shop.found("parcels to islands") == []
    shop.chroma.close()


def test_the_derived_strategy_finds_chunks_by_how_they_begin(example, tmp_path, model_cache):
    module = example("server/retrieval/published/first_sentence.py")
    shop = Shop(module.FIRST_SENTENCE.make, tmp_path, model_cache)
    lamps = chunk("lamps", "Lamps are made of brass. Parcels take five days.")
    parcels = chunk("parcels", "Parcels take five days. Lamps are made of brass.")
    shop.change(lamps, parcels)
    assert shop.found("How long do parcels take?")[0].chunk == parcels
    assert shop.found("What are lamps made of?")[0].chunk == lamps
    options = module.FirstSentenceOptions(most=1)
    assert module.FIRST_SENTENCE.make(shop.index.parts, options).name == "first-sentence[most=1]"
    shop.chroma.close()


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
    assert command.run(parser.parse_args([]), Settings.of(data_dir=tmp_path)) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path)


def test_the_dashboard_page_has_a_menu_entry_and_a_route(example):
    page = example("admin/sites/languages.py").page
    assert isinstance(page, Page)
    assert (page.menu, page.routes[0].rule, page.public) == ("Languages", "/languages", False)
