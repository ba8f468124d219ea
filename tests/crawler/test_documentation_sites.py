"""Real manuals of several markups and languages, as Debian packages install them.

What is expected was written down from looking at the pages in a browser. Without its package a
test is skipped, or fails where all tests have to run.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from crawler.crawl import crawl
from crawler.extractors import SourceDocument, extract
from crawler.judging.templates import TemplateLearner
from crawler.options import CrawlOptions
from crawler.page import Page
from crawler.report import UrlState

DOCS = Path("/usr/share/doc")


@dataclass(frozen=True)
class Expected:
    file: str
    title: str
    language: str
    heading_path: tuple[str, ...]
    """Under which the phrase stands."""
    phrase: str
    anchor: str
    kind: str = "text"


SPHINX = "python3-doc/html"
DOCBOOK = "postgresql-doc-15/html"
BY_HAND = "sqlite3"
BOOK = "debian-handbook/html"
MANUAL = "apache2-doc/manual"
REFERENCE = "debian-reference-common/docs"

EXPECTED = [
    Expected(
        f"{SPHINX}/library/json.html", "json — JSON encoder and decoder", "en",
        ("json — JSON encoder and decoder", "Encoders and Decoders", "class json.JSONDecoder", "decode(s)"),
        "will be raised if the given JSON document is not valid", "json.JSONDecoder.decode",
    ),
    Expected(
        f"{SPHINX}/tutorial/datastructures.html", "5. Data Structures", "en",
        ("5. Data Structures", "5.2. The del statement"), "can also be used to delete entire variables", "the-del-statement",
    ),
    Expected(
        f"{SPHINX}/library/functions.html", "Built-in Functions", "en",
        ("Built-in Functions", "len(s)"), "on lengths larger than sys.maxsize", "len",
    ),
    Expected(
        f"{SPHINX}/faq/general.html", "General Python FAQ", "en",
        ("General Python FAQ", "General Information", "What is Python?"), "an interpreted, interactive, object-oriented", "what-is-python",
    ),
    Expected(
        f"{SPHINX}/library/json.html", "json — JSON encoder and decoder", "en",
        ("json — JSON encoder and decoder", "Encoders and Decoders", "class json.JSONDecoder"),
        "object\tdict\narray\tlist", "json.JSONDecoder", "table",
    ),
    Expected(
        f"{DOCBOOK}/runtime-config-resource.html", "20.4. Resource Consumption", "en",
        ("20.4. Resource Consumption", "20.4.1. Memory", "shared_buffers (integer)"),
        "a reasonable starting value for shared_buffers is 25%", "GUC-SHARED-BUFFERS",
    ),
    Expected(
        f"{DOCBOOK}/datatype-numeric.html", "8.1. Numeric Types", "en",
        ("8.1. Numeric Types",), "smallint\t2 bytes\tsmall-range integer", "DATATYPE-NUMERIC", "table",
    ),
    Expected(
        f"{DOCBOOK}/ddl-constraints.html", "5.4. Constraints", "en",
        ("5.4. Constraints", "5.4.1. Check Constraints"), "    price numeric CHECK (price > 0)", "DDL-CONSTRAINTS-CHECK-CONSTRAINTS", "code",
    ),
    Expected(
        f"{DOCBOOK}/sql-vacuum.html", "VACUUM", "en", ("VACUUM",), "garbage-collect and optionally analyze a database", "id-1.9.3.184.1",
    ),
    Expected(
        f"{BY_HAND}/wal.html", "Write-Ahead Logging", "en",
        ("3. Activating And Configuring WAL Mode", "3.3. Persistence of WAL mode"), "Unlike the other journaling modes", "persistence_of_wal_mode",
    ),
    Expected(
        f"{BY_HAND}/lang_select.html", "SELECT", "en", ("1. Overview",), "statement is used to query the database", "overview",
    ),
    Expected(
        f"{BY_HAND}/pragma.html", "Pragma statements supported by SQLite", "en",
        ("PRAGMA Statements", "PRAGMA command syntax"), "A pragma can take either zero or one argument", "syntax",
    ),
    Expected(
        f"{BOOK}/en-US/sect.apt-get.html", "6.2. aptitude, apt-get, and apt Commands", "en",
        ("6.2. aptitude, apt-get, and apt Commands", "6.2.1. Initialization", "TIP Incremental updates"),
        'sudo apt -o "Acquire::PDiffs=false" update', "sidebar.apt-pdiff", "code",
    ),
    Expected(
        f"{BOOK}/fr-FR/sect.apt-get.html", "6.2. Commandes aptitude, apt-get et apt", "en",
        ("6.2. Commandes aptitude, apt-get et apt",), "APT est un projet relativement vaste", "sect.apt-get",
    ),
    Expected(
        f"{BOOK}/ja-JP/sect.user-group-databases.html", "8.4. ユーザとグループのデータベース", "ja",
        ("8.4. ユーザとグループのデータベース", "8.4.3. 既存のアカウントやパスワードの変更"), "passwd permits a regular user", "sect.account-modification",
    ),
    Expected(
        f"{BOOK}/zh-CN/basic-configuration.html", "第 8 章 基础配置：网络，账户，打印……", "zh",
        ("第 8 章 基础配置：网络，账户，打印……", "8.1. 用其他语言进行配置", "8.1.1. 设置默认语言"), "locale", "sect.default-language",
    ),
    Expected(
        f"{MANUAL}/en/mod/mod_alias.html", "Apache Module mod_alias", "en",
        ("Apache Module mod_alias", "Alias Directive"), "Maps URLs to filesystem locations", "alias", "table",
    ),
    Expected(
        f"{MANUAL}/fr/howto/auth.html", "Authentification et autorisation", "fr",
        ("Authentification et autorisation", "Autorisation d'accès à plusieurs personnes"), "une liste des membres du groupe", "lettingmorethanonepersonin",
    ),
    Expected(
        f"{MANUAL}/ko/glossary.html", "용어", "ko", ("용어", "정의"), "- 접근제어 (Access Control)", "definitions", "list",
    ),
    Expected(
        f"{REFERENCE}/ch02.en.html", "Chapter 2. Debian package management", "en",
        ("Chapter 2. Debian package management",), "This chapter is written assuming the latest stable release", "_debian_package_management",
    ),
    Expected(
        f"{REFERENCE}/ch10.zh-cn.html", "第 10 章 数据管理", "zh",
        ("第 10 章 数据管理", "10.2. 备份和恢复"), "计算机有时会出问题", "_backup_and_recovery",
    ),
    Expected(
        f"{MANUAL}/tr/bind.html", "Adresleri ve Portları Dinleme", "tr",
        ("Adresleri ve Portları Dinleme", "Genel Bakış"), "sunucuya gelen istekleri sadece belli port", "overview",
    ),
    Expected(
        f"{MANUAL}/es/howto/ssi.html", "Tutorial de Apache httpd: Introducción a los Server Side Includes", "es",
        ("Tutorial de Apache httpd: Introducción a los Server Side Includes", "Introducción"), "En este artículo, hablaremos", "related",
    ),
    Expected(
        f"{MANUAL}/ja/mod/mod_alias.html", "Apache モジュール mod_alias", "ja",
        ("Apache モジュール mod_alias", "概要"), "Alias ディレクティブと ScriptAlias ディレクティブは URL と", "",
    ),
    Expected(
        f"{SPHINX}/library/http.cookiejar.html", "http.cookiejar — Cookie handling for HTTP clients", "en",
        ("http.cookiejar — Cookie handling for HTTP clients", "Cookie Objects"), "Netscape cookies have version 0", "cookie-objects", "list",
    ),
    Expected(
        f"{DOCBOOK}/errcodes-appendix.html", "Appendix A. PostgreSQL Error Codes", "en",
        ("Appendix A. PostgreSQL Error Codes",), "23505\tunique_violation", "ERRCODES-APPENDIX", "table",
    ),
    Expected(
        f"{BY_HAND}/fileformat2.html", "Database File Format", "en", ("1. The Database File", "1.6. B-tree Pages"),
        "Datatype\tTable Leaf (0x0d)\tTable Interior (0x05)", "b_tree_pages", "table",
    ),
    Expected(
        f"{BY_HAND}/faq.html", "Frequently Asked Questions", "en", ("Frequently Asked Questions", "(1) How do I create an AUTOINCREMENT field?"),
        "A column declared INTEGER PRIMARY KEY will autoincrement", "q1",
    ),
]  # fmt: skip

INSTALLED_FOR_TESTS = {
    "python3-doc": "python3-doc",
    "postgresql-doc-15": "postgresql-doc-15",
    "sqlite3": "sqlite3-doc",
    "apache2-doc": "apache2-doc",
}
"""Folder -> package; see `.ci/system.py`. The other manuals are used where they happen to be."""

JUNK = {
    SPHINX: ("¶", "Previous topic", "Quick search", "Created using Sphinx", "Report a Bug"),
    DOCBOOK: ("Home\tNext", "Table of Contents\n"),
    BY_HAND: ("Small. Fast. Reliable", "Search Documentation", "toggle_div", "Table Of Contents"),
    BOOK: ("Download the ebook", "Précédent", "Product Site"),
    MANUAL: (
        "Available Languages",
        "Report a bug",
        "¶",
        "Licensed under the Apache License",
        "Langues Disponibles",
    ),
    REFERENCE: ("Table of Contents", "Prev\n", "Inhaltsverzeichnis"),
}


def needed(folder: str) -> Path:
    path = DOCS / folder
    if not path.is_dir():
        package = INSTALLED_FOR_TESTS.get(folder.partition("/")[0], folder.partition("/")[0])
        # Never a failure: images of Debian may leave the documentation out of its packages.
        pytest.skip(f"{path} is not there; apt-get install {package}")
    return path


def read(file: str) -> Page:
    path = DOCS / file
    needed(file.partition("/")[0])
    return extract(SourceDocument(f"https://docs.example/{file}", path.read_bytes())).page


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda e: f"{e.file}-{e.anchor}")
def test_a_page_is_read_as_people_read_it(expected: Expected) -> None:
    page = read(expected.file)
    assert (page.title, page.language) == (expected.title, expected.language)
    found = [block for block in page.blocks if expected.phrase in block.text]
    assert found, f"{expected.phrase!r} is missing"
    assert expected.heading_path in [block.heading_path for block in found]
    block = next(block for block in found if block.heading_path == expected.heading_path)
    assert (block.kind, block.anchor) == (expected.kind, expected.anchor)


@pytest.mark.parametrize("folder", sorted(JUNK))
def test_furniture_of_the_site_is_on_no_page(folder: str) -> None:
    for file in {expected.file for expected in EXPECTED if expected.file.startswith(folder)}:
        text = read(file).text
        for junk in JUNK[folder]:
            assert junk not in text, f"{junk!r} in {file}"


@pytest.mark.parametrize(("folder", "least"), [(BOOK + "/en-US", 60), (BY_HAND, 60)])
def test_a_manual_is_crawled_over_http(folder: str, least: int) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = partial(Quiet, directory=str(needed(folder)))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        start = f"http://127.0.0.1:{server.server_port}/"
        outcomes = list(crawl(CrawlOptions(start_urls=(start,), allow_private=True, max_pages=least)))
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    pages = [outcome.page for outcome in outcomes if outcome.page]
    assert len(pages) == least
    assert len({outcome.url for outcome in outcomes}) == len(outcomes)
    assert len({page.content_hash for page in pages}) == least
    assert not [outcome for outcome in outcomes if outcome.state is UrlState.ERROR]
    assert all(page.title and page.blocks for page in pages)


@pytest.mark.parametrize("folder", [f"{SPHINX}/library", DOCBOOK, BY_HAND, f"{MANUAL}/en", f"{MANUAL}/fr"])
def test_comparing_the_pages_of_a_manual_takes_nothing_from_them(folder: str) -> None:
    needed(folder)
    files = sorted((DOCS / folder).glob("*.html"))
    pages = [read(str(file.relative_to(DOCS))) for file in files[:: max(1, len(files) // 30)]]
    learner = TemplateLearner()
    for page in pages:
        learner.add(page)
    template = learner.template()
    assert [template.clean(page).blocks for page in pages] == [page.blocks for page in pages]
