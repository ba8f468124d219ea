"""Texts that people read keep to docs/words.md."""

import argparse
import ast
import re
from importlib import import_module

import pytest
from bs4 import BeautifulSoup, Comment

from crawler.command_line import parser as crawler_parser
from server.commands import COMMANDS
from tests.docs_blocks import DOCS, ROOT, TEXTS

REFERENCE = {
    "answers", "api", "architecture", "commands", "CONTRIBUTING", "crawling", "dependencies", "extending", "quality",
    "models", "operations", "playground", "published-strategies", "security", "security-asvs", "settings", "strategies",
    "CHANGELOG", "words",
}  # fmt: skip
ATTRIBUTES = ("placeholder", "title", "aria-label", "alt", "value", "content")
OPEN: dict[str, set[str]] = {
    "admin/content/templates/content.html": {"stands"},
    "admin/content/templates/content_edit.html": {"beside", "is told", "stand"},
    "admin/content/templates/content_page.html": {"stand"},
    "admin/content/templates/content_search.html": {"is told"},
    "admin/content/templates/sources.html": {"beside", "stands"},
    "admin/conversations/messages.py": {"shall", "whether it"},
    "admin/conversations/templates/conversation.html": {"stands"},
    "admin/conversations/trace_view.py": {"beside"},
    "admin/crawls/templates/_crawl.html": {"chunks"},
    "admin/gaps/templates/curated_import.html": {"mend", "stands"},
    "admin/gaps/templates/gap.html": {"what is to become"},
    "admin/gaps/templates/gaps.html": {"stand"},
    "admin/letters.py": {"is none"},
    "admin/overview/overview.py": {"turned away"},
    "admin/overview/templates/health.html": {"stand"},
    "admin/overview/templates/overview.html": {"shall"},
    "admin/people/people.py": {"stands"},
    "admin/people/templates/api_keys.html": {"stands"},
    "admin/playground/playground.py": {"mend"},
    "admin/quality/templates/_quality.html": {"generation"},
    "admin/quality/templates/_quality_run.html": {"generation"},
    "admin/quality/templates/quality_compare.html": {"stand", "stands"},
    "admin/quality/templates/quality_gate.html": {"mend"},
    "admin/quality/templates/quality_run.html": {"stands", "variant"},
    "admin/quality/templates/quality_run_new.html": {"stand"},
    "admin/settings/backup.py": {"anew"},
    "admin/settings/models.py": {"rerank"},
    "admin/settings/templates/backup.html": {"anew"},
    "admin/settings/templates/settings_budgets.html": {"stand", "turned away"},
    "admin/settings/templates/settings_mail.html": {"are told", "stands"},
    "admin/settings/templates/webhook.html": {"is told"},
    "admin/settings/webhooks.py": {"whether it"},
    "admin/sites/embed_check.py": {"anew"},
    "admin/sites/site.py": {"chunks"},
    "admin/sites/templates/site.html": {"shall", "stand"},
    "admin/sites/templates/site_settings.html": {"stand"},
    "admin/sites/templates/widget.html": {"stand"},
    "admin/sites/templates/widget_preview.html": {"stands"},
    "admin/sites/widget.py": {"stands"},
    "widget/demo/full.html": {"beside"},
    "widget/demo/index.html": {"shall"},
    "widget/demo/inline.html": {"beside", "stand"},
}
"""File -> words to avoid that it still has, until its texts are written again."""


def terms():
    """The words that are used: part of one of them is no fault, such as "embedding" in "embedding model"."""
    table = (DOCS / "words.md").read_text(encoding="utf-8").split("## Which words does Docent avoid?")[0]
    found = re.findall(r"^\| ([^|]+?) \|", table, re.M)[2:]
    return re.compile("|".join(rf"\b{re.escape(word)}s?\b" for word in found if " " in word), re.I)


def avoided():
    """(pattern, whether reference pages may use it) of each word."""
    table = (DOCS / "words.md").read_text(encoding="utf-8").split("| avoid |")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:] if line]
    return [
        (re.compile(rf"\b{re.escape(word)}(?:s|ed|ing)?\b", re.I), bool(allowed)) for word, _, allowed in rows
    ]


AVOIDED = avoided()
TERMS = terms()


def faults(text, reference=False):
    """The words in a text that it should not have."""
    text = TERMS.sub(" ", " ".join(text.split()))
    return {
        found[0].lower()
        for pattern, allowed in AVOIDED
        if not (allowed and reference)
        for found in pattern.finditer(text)
    }


def prose(markdown):
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.M | re.S)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)


def shown(template):
    """What a template shows: text, attributes, and the texts of its expressions."""
    said = re.findall(r"\b(?:_|ngettext|lazy)\(\s*([\"'])(.*?)\1", template, re.S)
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", template, flags=re.S)
    soup = BeautifulSoup(bare, "lxml")
    texts = [str(text) for text in soup.find_all(string=lambda text: not isinstance(text, Comment))]
    attributes = [str(tag[name]) for tag in soup.find_all(True) for name in ATTRIBUTES if tag.has_attr(name)]
    return " \n".join([*texts, *attributes, *(text for _, text in said)])


def spoken(path):
    """Texts of a module that are not docstrings and hold a space: messages, labels, hints."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in silent else None
        if isinstance(text, str) and " " in text.strip():
            yield text


def raised(path):
    """Texts of the errors that a module raises."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc:
            yield from (
                part.value
                for part in ast.walk(node)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


def test_the_word_list_is_read():
    assert len(AVOIDED) > 20
    assert faults("It stands in the chunk, anew.") == {"stands", "chunk", "anew"}
    assert faults("Chunks are cut.", reference=True) == set()


@pytest.mark.parametrize("path", [*TEXTS, ROOT / "CHANGELOG.md"], ids=lambda path: path.name)
def test_documentation(path):
    text = path.read_text(encoding="utf-8")
    if path.name == "words.md":
        text = text.split("## Which words does Docent avoid?")[0].replace(text.split("| --- |")[1], "")
        text = re.sub(r"\|[^|]*\|$", "", text, flags=re.M)  # the column of what is not said
    found = faults(prose(text), reference=path.stem in REFERENCE)
    assert not found, [line for line in prose(text).splitlines() if faults(line, path.stem in REFERENCE)]


TEMPLATES = sorted(
    [*ROOT.glob("admin/**/*.html"), *ROOT.glob("server/**/*.html"), *ROOT.glob("widget/**/*.html")]
)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages(path):
    found = faults(shown(path.read_text(encoding="utf-8")))
    assert found <= OPEN.get(path.relative_to(ROOT).as_posix(), set()), found


def test_the_dashboards_own_texts():
    found = {
        path.relative_to(ROOT).as_posix(): faults(" \n".join(spoken(path)))
        for path in ROOT.glob("admin/**/*.py")
    }
    open_still = {name: words - OPEN.get(name, set()) for name, words in found.items()}
    assert not {name: words for name, words in open_still.items() if words}


def test_messages_of_errors():
    files = [path for folder in ("server", "crawler") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): faults(" \n".join(raised(path))) for path in files}
    open_still = {name: words - OPEN.get(name, set()) for name, words in found.items()}
    assert not {name: words for name, words in open_still.items() if words}


def test_the_widget():
    for path in (ROOT / "widget/src/texts/en.js", ROOT / "widget/embed.js"):
        texts = re.findall(r"\"([^\"\n]*)\"|`([^`]*)`", path.read_text(encoding="utf-8"))
        assert not faults(" \n".join(" ".join(pair) for pair in texts)), path


@pytest.mark.parametrize("name", [*COMMANDS, "crawler"])
def test_help_of_commands(name):
    if name == "crawler":
        parser = crawler_parser()
    else:
        module = import_module(f"server.commands.{name}")
        parser = argparse.ArgumentParser(description=module.HELP)
        module.arguments(parser)
    parsers = [parser]
    for action in parser._actions:
        parsers += (
            getattr(action, "choices", None).values()
            if isinstance(action, argparse._SubParsersAction)
            else ()
        )
    said = " ".join(one.format_help() for one in parsers)
    assert not faults(re.sub(r"--[\w-]+(?: [A-Z]+)?", " ", said))


def test_the_list_of_what_is_open_is_true():
    for name in OPEN:
        path = ROOT / name
        text = (
            shown(path.read_text(encoding="utf-8"))
            if path.suffix == ".html"
            else " \n".join([*spoken(path), *raised(path)])
        )
        assert OPEN[name] <= faults(text), f"{name} has lost some of these words: take them from the list"
