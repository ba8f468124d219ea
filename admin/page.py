"""What the table of pages is made of, and the menu and tabs that it becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, TypedDict, TypeVar, Unpack

from flask import g, request, url_for
from flask.typing import ResponseReturnValue

from admin.texts import _
from admin.visible import visible_site
from server.api.access import stores
from server.domain.roles import Role

View = TypeVar("View", bound=Callable[..., ResponseReturnValue])


@dataclass(frozen=True, slots=True)
class Route:
    """One address of a page."""

    page: Page
    rule: str
    endpoint: str
    method: str
    view: Callable[..., ResponseReturnValue]
    large: bool = False
    """Whether it takes uploads, which are larger than any other form."""
    framed: bool = False
    """Whether other pages of the dashboard may show it in a frame."""
    role: Role = Role.VIEWER
    """What an operator must at least be."""
    recent: bool = False
    """Whether it needs a recent proof of who is at the browser, see admin.people.recent."""
    all_sites: bool = False
    """Whether it needs access to all sites."""


class RouteOptions(TypedDict, total=False):
    """The fields of a route that have a default."""

    large: bool
    framed: bool
    role: Role
    recent: bool
    all_sites: bool


@dataclass(eq=False, kw_only=True, slots=True)
class Page:
    """A page of the dashboard: its routes, its menu entry, and who may see it.

    Closed unless `public` says otherwise. A view's name is its endpoint, so `admin.NAME` in `url_for`. A view
    that takes `site` gets the site whose id is in the address.
    """

    menu: str = ""
    tab: str = ""
    """Its entry among the tabs of a site; the address of such a page has the site's id alone."""
    section: str = ""
    """Its entry among the sections of the settings."""
    under: Page | None = None
    """The page that it belongs to, whose menu entry and tab are marked while this one is shown."""
    help: str = ""
    """Page of the documentation, with or without a heading: "content#how-do-i-correct-a-page". A page without
    one has that of the page that it is under."""
    public: bool = False
    role: Role | None = None
    """What an operator must at least be for its routes and for those of the pages under it, unless a route
    says otherwise. None: viewers see what it shows, editors send its forms."""
    recent: bool = False
    """Whether its forms, and those of the pages under it, need a recent proof of who sends them."""
    routes: list[Route] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Endpoint of the page itself: that of its first route."""
        return self.routes[0].endpoint

    @property
    def seen_by(self) -> Role:
        """What an operator must at least be to see the page itself."""
        return self.routes[0].role

    @property
    def line(self) -> list[Page]:
        """The page, the one that it is under, and so on."""
        return [self, *(self.under.line if self.under else ())]

    def get(self, rule: str, endpoint: str = "", **options: Unpack[RouteOptions]) -> Callable[[View], View]:
        """Shows something, and changes nothing. The endpoint is the view's name unless another is given."""
        return self._route(rule, "GET", endpoint, {"role": self._least(Role.VIEWER), **options})

    def post(
        self, rule: str, endpoint: str = "", *, has_password: bool = False, **options: Unpack[RouteOptions]
    ) -> Callable[[View], View]:
        """Changes something: what it was goes to the audit log, see admin.replies. A form that has a field
        for the password, which its view checks, needs no other proof."""
        if not has_password and any(page.recent for page in self.line):
            options["recent"] = True
        return self._route(rule, "POST", endpoint, {"role": self._least(Role.EDITOR), **options})

    def _least(self, usual: Role) -> Role:
        return next((page.role for page in self.line if page.role is not None), usual)

    def _route(self, rule: str, method: str, endpoint: str, options: RouteOptions) -> Callable[[View], View]:
        def remember(view: View) -> View:
            called = _with_site(view) if "site" in signature(view).parameters else view
            self.routes.append(Route(self, rule, endpoint or view.__name__, method, called, **options))
            return view

        return remember


def _with_site(view: Callable[..., ResponseReturnValue]) -> Callable[..., ResponseReturnValue]:
    """Hand a view that takes `site`, and the page that it shows, the site of the address. Raises UnknownSite,
    which becomes a 404."""

    def called(site_id: str, **values: object) -> ResponseReturnValue:
        g.site = stores().sites.get(site_id)
        return view(g.site, **values)

    return called


def help_address(shown: Page | None) -> str:
    """Address of the help for a page of the dashboard, on this server."""
    found = next((page.help for page in (shown.line if shown else ()) if page.help), "dashboard")
    name, mark, anchor = found.partition("#")
    return f"{request.script_root}/docs/{name}.html{mark}{anchor}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One link."""

    address: str
    label: str
    current: str
    """Value of aria-current: "page", "true" for a page below it, else empty."""


def menu(pages: tuple[Page, ...], shown: Page | None, role: Role) -> list[Entry]:
    """The pages with a menu entry that this role may see, in the order of the table."""
    return [_entry(page, page.menu, shown) for page in pages if page.menu and role.may(page.seen_by)]


@dataclass(frozen=True, slots=True)
class SiteTabs:
    """The tabs above the pages of a site, or above those of the settings."""

    name: str
    entries: list[Entry]


def site_tabs(pages: tuple[Page, ...], shown: Page | None, role: Role) -> SiteTabs | None:
    """Those of the site in the address that this role may see; None on pages of no site, or of one that is
    unknown."""
    site = visible_site(str((request.view_args or {}).get("site_id", "")))
    if site is None or shown is None:
        return None
    open_to = [page for page in pages if page.tab and role.may(page.seen_by)]
    return SiteTabs(site.name, [_entry(page, page.tab, shown, site_id=site.id) for page in open_to])


def sections(pages: tuple[Page, ...], shown: Page | None) -> SiteTabs | None:
    """Those of the settings; None on other pages."""
    if shown is None or not any(page.section for page in shown.line):
        return None
    # The overview is above all others: only the section itself is marked.
    here = next(page for page in shown.line if page.section)
    return SiteTabs(
        _("Settings"),
        [_entry(page, page.section, here if page is here else None) for page in pages if page.section],
    )


def _entry(page: Page, label: str, shown: Page | None, **values: Any) -> Entry:
    endpoint, current = f"admin.{page.endpoint}", ""
    if shown is not None and page in shown.line:
        current = "page" if request.endpoint == endpoint else "true"
    return Entry(url_for(endpoint, **values), label, current)
