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
COMPARING = ("admin/playground/", "admin/quality/", "admin/stored.py")
"""Pages that compare variants, and so may name them; stored.py has the texts of quality reports."""


def named(name):
    return {"variant", "variants"} if name.startswith(COMPARING) else set()


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


def test_documentation():
    wrong = {}
    for path in (*TEXTS, ROOT / "CHANGELOG.md"):
        text = path.read_text(encoding="utf-8")
        if path.name == "words.md":
            text = text.split("## Which words does Docent avoid?")[0].replace(text.split("| --- |")[1], "")
            text = re.sub(r"\|[^|]*\|$", "", text, flags=re.M)  # the column of what is not said
        if faults(prose(text), reference=path.stem in REFERENCE):
            lines = prose(text).splitlines()
            wrong[path.name] = [line for line in lines if faults(line, path.stem in REFERENCE)]
    assert wrong == {}


TEMPLATES = sorted(
    [*ROOT.glob("admin/**/*.html"), *ROOT.glob("server/**/*.html"), *ROOT.glob("widget/**/*.html")]
)


def test_pages():
    found = {
        path.relative_to(ROOT).as_posix(): faults(shown(path.read_text(encoding="utf-8")))
        for path in TEMPLATES
    }
    assert not {name: words - named(name) for name, words in found.items() if words - named(name)}


def test_the_dashboards_own_texts():
    found = {
        path.relative_to(ROOT).as_posix(): faults(" \n".join(spoken(path)))
        for path in ROOT.glob("admin/**/*.py")
    }
    assert not {name: words - named(name) for name, words in found.items() if words - named(name)}


def test_messages_of_errors():
    files = [path for folder in ("server", "crawler") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): faults(" \n".join(raised(path))) for path in files}
    assert not {name: words for name, words in found.items() if words}


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
