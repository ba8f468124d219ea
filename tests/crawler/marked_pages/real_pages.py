"""Pages of real sites, marked by hand: XPaths of the main content and of what in it is not content.

The pages come with Debian's documentation packages; nothing of them is kept here. What was marked as
no content: menus, tables of contents, navigation, permalink signs, notes on when a page was changed,
language lists, the labels in syntax diagrams, form controls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import html

from tests.crawler.marked_pages.gold import MarkedPage, words_below

DOCS = Path("/usr/share/doc")


def _of_class(name: str) -> str:
    return f"//*[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"


@dataclass(frozen=True)
class Marks:
    """How the pages of one site are marked."""

    package: str
    folder: str
    content: str
    excluded: tuple[str, ...]
    pages: tuple[str, ...]


_CONTENTS = (_of_class("toc"), _of_class("contents"), _of_class("headerlink"), _of_class("local"))
_APACHE_EXTRAS = (_of_class("toplang"), "//div[@id='quickview']", _of_class("permalink"), _of_class("top"))

SITES = (
    Marks(
        "python3-doc",
        "python3-doc/html",
        "//div[@role='main']",
        _CONTENTS,
        ("library/json.html", "library/textwrap.html", "library/functions.html", "tutorial/datastructures.html",
         "faq/general.html", "whatsnew/3.8.html", "howto/sorting.html", "glossary.html", "license.html"),
    ),
    Marks(
        "postgresql-doc-15",
        "postgresql-doc-15/html",
        "//body/*[not(contains(@class, 'nav'))]",
        _CONTENTS,
        ("sql-vacuum.html", "ddl-constraints.html", "datatype-numeric.html", "runtime-config-resource.html",
         "app-psql.html", "errcodes-appendix.html", "tutorial-join.html"),
    ),
    Marks(
        "sqlite3-doc",
        "sqlite3",
        "//body",
        (_of_class("nosearch"), _of_class("imgcontainer"), "//ol[@class='nounderline']", "//p[small]",
         "//p[starts-with(normalize-space(.), 'This page last modified')]", "//p[button]",
         "//*[contains(text(), 'This page last modified')]"),
        ("wal.html", "about.html", "lang_delete.html", "datatype3.html", "whentouse.html", "faq.html", "limits.html"),
    ),
    Marks(
        "debian-handbook",
        "debian-handbook/html",
        "//body/div[not(@id)]",
        _CONTENTS,
        ("en-US/sect.apt-get.html", "de-DE/sect.backup.html", "ja-JP/sect.user-group-databases.html",
         "zh-CN/basic-configuration.html", "es-ES/sect.dhcp.html"),
    ),
    Marks(
        "apache2-doc",
        "apache2-doc/manual",
        "//div[@id='page-content']",
        _APACHE_EXTRAS,
        ("en/howto/htaccess.html", "en/mod/mod_alias.html", "de/sections.html", "fr/howto/auth.html",
         "ja/mod/mod_alias.html", "ko/logs.html", "ko/glossary.html", "tr/bind.html", "es/howto/ssi.html"),
    ),
    Marks(
        "debian-reference-common",
        "debian-reference-common/docs",
        "//body/div[not(contains(@class, 'nav'))]",
        _CONTENTS,
        ("ch02.de.html", "ch10.zh-cn.html", "ch08.ja.html", "ch05.pt.html"),
    ),
)  # fmt: skip


def real_pages(site: Marks) -> Iterator[MarkedPage]:
    """The marked pages of a site; FileNotFoundError when its package is not installed."""
    for name in site.pages:
        body = (DOCS / site.folder / name).read_bytes()
        root = html.document_fromstring(body)
        yield MarkedPage(
            f"https://docs.example/{site.folder}/{name}",
            body,
            words_below(root, site.content, site.excluded),
        )
