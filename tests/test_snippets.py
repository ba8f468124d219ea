"""Every block of code in the documentation works as it is written, or has its reason in a short list here."""

import ast
import hashlib
import hmac
import json
import re
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec

import pytest
from bs4 import BeautifulSoup
from docx import Document
from fpdf import FPDF
from protego import Protego

import server.__main__ as shell
from crawler.command_line import parse
from crawler.fetching.robots import RobotsRules
from server.retrieval.table import STRATEGIES
from server.runtime.runtime import open_runtime
from server.settings import SETTINGS, Settings
from server.settings.reading import load_settings
from tests.docs_blocks import DOCS, ROOT, blocks, shell_commands

ELSEWHERE = {
    "css": "tests/widget/test_looks.py sets these properties and parts",
    "http": "tests/widget/test_isolation.py runs the widget under this policy",
    "ini": "tests/admin/people/test_attempts.py tries the filter",
    "jsx": "needs a build of React or Next.js",
    "php": "needs WordPress",
    "text": "output and drawings",
    "toml": "tests/languages/test_eleventh_language.py loads it",
    "yaml": "needs MkDocs",
}
CHECKED = {"caddy", "env", "html", "js", "json", "jsonl", "nginx", "python", "robots", "sh"}
NOT_OURS = {
    "apt-get": "a package of the system", "docker": "tests/image", "helm": "tests/image/test_chart.py",
    "kubectl": "Kubernetes", "cd": "the folder of the clone", "curl": "tests/api/test_docs_requests.py",
    "env": "Ollama", "git": "the reader's own address", "llama-server": "llama.cpp", "openssl": "makes a key",
    "systemctl": "tests/deploy/test_systemd.py", "systemd-run": "tests/deploy/test_systemd.py", "vllm": "vLLM",
}  # fmt: skip
NOT_RUN = {
    "crawl ": "crawls the reader's website: tests/journey",
    "run": "starts a server: tests/journey",
    "crawls pause": "needs a crawl under way: tests/jobs/test_control.py",
    "crawls resume": "the same",
    "crawls stop": "the same",
    "crawls urls": "the same",
    "scope example-com --explain": "asks the reader's website: tests/jobs/test_scope_command.py",
    "evaluate": "needs minutes: tests/evaluation/test_evaluating.py",
    "strategies choose": "needs a report: tests/evaluation/test_strategies_command.py",
    "sites import site.zip": "the site is in this installation: tests/storage/test_one_site.py",
    "packages check": "needs a database of advisories: tests/packages/test_packages.py",
}
SERVER = ".venv/bin/python -m server"


def test_every_block_says_what_it_is_and_is_checked():
    for block in blocks():
        assert block.language in CHECKED | set(ELSEWHERE), block


def test_the_reasons_name_files_that_exist():
    for reason in [*ELSEWHERE.values(), *NOT_OURS.values(), *NOT_RUN.values()]:
        assert all((ROOT / name).exists() for name in re.findall(r"tests/[\w/.]+", reason)), reason


# --- Commands


def of_server():
    """(file, arguments) of each call of `python -m server`."""
    for file, words, _ in shell_commands():
        if " ".join(words[:3]) == SERVER:
            yield file, words[3 : words.index(">") if ">" in words else None]


def test_every_command_is_known():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for file, words, given in shell_commands():
        program, rest = words[0], words[1:]
        assert {name.lower() for name in given} <= {*SETTINGS, "token"}, (file, words)
        if program == "make":
            assert rest[0] in targets, (file, words)
            assert all(word.split("=")[0].lower() in SETTINGS for word in rest[1:]), (file, words)
        elif program == ".venv/bin/pip":
            assert rest[-1] in (ROOT / "requirements-dev.txt").read_text(encoding="utf-8"), (file, words)
        elif rest[:1] == ["-m"] and "python" in program:
            assert find_spec(rest[1]), (file, words)
        else:
            assert program in NOT_OURS, (file, words)


def test_the_arguments_of_the_crawler_are_understood():
    for _, words, _ in shell_commands():
        if words[1:3] == ["-m", "crawler"]:
            parse(words[3:])


def test_the_arguments_of_every_command_are_understood():
    for file, arguments in of_server():
        parser, _ = shell._parser(arguments)
        options = parser.parse_args(arguments)
        for name in re.findall(r"[\w-]+(?:\[[^]]*\])?", getattr(options, "strategies", None) or ""):
            assert name.split("[")[0] in STRATEGIES, (file, name)


@pytest.fixture(scope="module")
def example_com(tmp_path_factory):
    """A folder with a small site, and with the files that the commands name."""
    folder = tmp_path_factory.mktemp("snippets")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DATA_DIR", str(folder / "data"))
        patch.setenv("SOURCES_FOLDERS", str(folder))
        (folder / "answers.csv").write_text("question,answer\nHow long does delivery take?,Two days.\n")
        (folder / "pages.txt").write_text("https://example.com/a\n")
        (folder / "manual").mkdir()
        (folder / "manual/lamp.md").write_text("# Lamp\n\nThe lamp takes a bulb of 40 watts.\n")
        pdf = FPDF()
        pdf.add_page()
        pdf.set_font("helvetica")
        pdf.cell(text="The manual of the lamp.")
        pdf.output(str(folder / "manual.pdf"))
        guide = Document()
        guide.add_paragraph("The guide to lamps.")
        guide.save(str(folder / "guide.docx"))
        for site in ("docs", "example-com"):
            assert shell.main(["sources", "add", site, "--pairs", "answers.csv", "--now"]) == 0
        with closing(open_runtime(load_settings())) as runtime:
            for site in runtime.stores.sites.all():
                runtime.stores.sites.update(replace(site, start_urls=("https://example.com/",)))
            runtime.people.operators.create("ada@example.com", "")
        yield folder


def test_every_command_that_needs_no_network_runs(example_com, capsys, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda question: "restore")
    failed = []
    for file, arguments in of_server():
        line = " ".join(arguments)
        if line.startswith(tuple(NOT_RUN)) or arguments[0] == "--set":
            continue
        arguments = [word.replace("/backup/", f"{example_com}/") for word in arguments]
        code = shell.main(arguments)
        said = capsys.readouterr()
        if code:
            failed.append(f"{file}: {line}: {said.err or said.out}")
    assert not failed, "\n".join(failed)


# --- Settings, code and pages


@pytest.mark.parametrize("block", blocks("env"), ids=str)
def test_the_settings_are_accepted(block):
    lines = [line.partition("=") for line in block.text.splitlines()]
    assert Settings.of(**{name.lower(): value for name, _, value in lines})


@pytest.mark.parametrize("block", blocks("json", "jsonl"), ids=str)
def test_json_is_json(block):
    for text in block.text.splitlines() if block.language == "jsonl" else [block.text]:
        assert json.loads(text)


@pytest.mark.parametrize("block", blocks("html"), ids=str)
def test_a_page_loads_what_the_server_has_and_sets_what_the_widget_knows(block):
    reference = (DOCS / "widget.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| `(data-[\w-]+)`", reference, re.M))
    of_element = set(re.findall(r"^\| (?:`data-[\w-]+`)? ?\| `([\w-]+)`", reference, re.M))
    for path in re.findall(r"https://docent\.example\.com/(\S+?)[\"']", block.text):
        assert (ROOT / path.replace("v/latest/", "")).exists(), path
    for tag in BeautifulSoup(block.text, "lxml").find_all(True):
        data = {name for name in tag.attrs if name.startswith("data-")}
        assert data <= known | {"data-site-chat-open", "data-nosnippet"}, tag
        if tag.name == "site-chat":
            assert set(tag.attrs) <= of_element, tag


@pytest.mark.parametrize("block", blocks("js"), ids=str)
def test_javascript_is_correct(block, node, tmp_path):
    (tmp_path / "block.mjs").write_text(block.text, encoding="utf-8")
    subprocess.run([node, "--check", tmp_path / "block.mjs"], check=True)


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_is_correct(block):
    assert ast.parse(block.text)  # tests/test_extending.py runs those of docs/extending.md


def test_the_signature_of_a_webhook_is_checked_as_the_example_does():
    [block] = [block for block in blocks("python") if "is_from_docent" in block.text]
    exec(compile(block.text, "contact.md", "exec"), names := {})
    at, body = str(int(time.time())), b"{}"
    signed = hmac.new(b"secret", f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert names["is_from_docent"](f"t={at},v1={signed}", body, "secret")
    assert not names["is_from_docent"](f"t={at},v1={signed}", b"[]", "secret")


def test_the_core_of_the_proxies_is_that_of_their_files():
    for language, name in (("nginx", "nginx.conf"), ("caddy", "Caddyfile")):
        text = re.sub(r"\{\$\w+:(.*?)\}", r"\1", (ROOT / "deploy" / name).read_text(encoding="utf-8"))
        lines = {line.strip() for line in text.splitlines()}
        for block in blocks(language):
            assert {line.strip() for line in block.text.splitlines()} <= lines, name


def test_robots_txt_lets_docent_in_and_others_not():
    [block, preferences] = blocks("robots")
    rules = Protego.parse(block.text)
    page = "https://example.com/private/x"
    assert rules.can_fetch(page, "DocentBot")
    assert not rules.can_fetch(page, "Other")
    ours = RobotsRules.parse(preferences.text, "DocentBot")
    assert ours.refusing_line("https://example.com/drafts/x") == (3, "Content-Usage: /drafts/ search=n")
    assert ours.refusing_line(page) is None
