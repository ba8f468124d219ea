"""The menu of the dashboard, and the tabs of a site."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request, url_for

from admin.access import stores
from admin.page import Page
from server.domain.roles import Role


@dataclass(frozen=True, slots=True)
class Entry:
    """One link."""

    address: str
    label: str
    current: str
    """Value of aria-current: "page", "true" for a page below it, else empty."""


def menu(pages: tuple[Page, ...], shown: Page | None, role: Role) -> list[Entry]:
    """The pages with a menu entry that this role may see, in the order of the table."""
    return [
        Entry(url_for(f"admin.{page.endpoint}"), page.menu, _current(page, shown))
        for page in pages
        if page.menu and role.may(page.role)
    ]


@dataclass(frozen=True, slots=True)
class SiteTabs:
    """The tabs above the pages of a site, or above those of the settings."""

    name: str
    entries: list[Entry]


def site_tabs(pages: tuple[Page, ...], shown: Page | None, role: Role) -> SiteTabs | None:
    """Those of the site in the address that this role may see; None on pages of no site, or of one that is
    unknown."""
    site = stores().sites.find(str((request.view_args or {}).get("site_id", "")))
    if site is None or shown is None:
        return None
    return SiteTabs(
        site.name,
        [
            Entry(url_for(f"admin.{page.endpoint}", site_id=site.id), page.tab, _current(page, shown))
            for page in pages
            if page.tab and role.may(page.role)
        ],
    )


def sections(pages: tuple[Page, ...], shown: Page | None) -> SiteTabs | None:
    """Those of the settings; None on other pages."""
    if shown is None or not any(page.section for page in shown.line):
        return None
    found = [page for page in pages if page.section]
    # The overview is above all others: only the section itself is marked.
    here = next(page for page in shown.line if page.section)
    return SiteTabs(
        "Settings",
        [
            Entry(
                url_for(f"admin.{page.endpoint}"), page.section, _current(page, here) if page is here else ""
            )
            for page in found
        ],
    )


def _current(page: Page, shown: Page | None) -> str:
    if shown is None or page not in shown.line:
        return ""
    return "page" if request.endpoint == f"admin.{page.endpoint}" else "true"
