"""What the table of pages is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TypeVar

from flask.typing import ResponseReturnValue

from admin.access import stores
from server.domain.roles import Role

View = TypeVar("View", bound=Callable[..., ResponseReturnValue])


@dataclass(frozen=True, slots=True)
class Route:
    """One address of a page."""

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


class Page:
    """A page of the dashboard: its routes, its menu entry, and who may see it.

    Closed unless `public` says otherwise. A view's name is its endpoint, so `admin.NAME` in `url_for`. A view
    that takes `site` gets the site whose id is in the address.
    """

    def __init__(
        self,
        *,
        menu: str = "",
        tab: str = "",
        section: str = "",
        under: Page | None = None,
        public: bool = False,
    ) -> None:
        self.menu = menu
        self.tab = tab
        """Its entry among the tabs of a site; the address of such a page has the site's id alone."""
        self.section = section
        """Its entry among the sections of the settings."""
        self.under = under
        """The page that it belongs to, whose menu entry and tab are marked while this one is shown."""
        self.public = public
        self.routes: list[Route] = []

    @property
    def endpoint(self) -> str:
        """Endpoint of the page itself: that of its first route."""
        return self.routes[0].endpoint

    @property
    def role(self) -> Role:
        """Who may see the page itself."""
        return self.routes[0].role

    @property
    def line(self) -> list[Page]:
        """The page, the one that it is under, and so on."""
        return [self, *(self.under.line if self.under else ())]

    def get(self, rule: str, *, framed: bool = False, role: Role = Role.VIEWER) -> Callable[[View], View]:
        """Shows something, and changes nothing."""
        return self._route(rule, "GET", role, framed=framed)

    def post(self, rule: str, *, large: bool = False, role: Role = Role.EDITOR) -> Callable[[View], View]:
        """Changes something: what it was goes to the audit log, see admin.audit."""
        return self._route(rule, "POST", role, large=large)

    def _route(
        self, rule: str, method: str, role: Role, *, large: bool = False, framed: bool = False
    ) -> Callable[[View], View]:
        def remember(view: View) -> View:
            called = _with_site(view) if "site" in signature(view).parameters else view
            self.routes.append(Route(rule, view.__name__, method, called, large, framed, role))
            return view

        return remember


def _with_site(view: Callable[..., ResponseReturnValue]) -> Callable[..., ResponseReturnValue]:
    """Hand a view that takes `site` the site of the address. Raises UnknownSite, which becomes a 404."""

    def called(site_id: str, **values: object) -> ResponseReturnValue:
        return view(stores().sites.get(site_id), **values)

    return called
