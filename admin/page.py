"""What the table of pages is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from flask import Blueprint
from flask.typing import ResponseReturnValue

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


class Page:
    """A page of the dashboard: its routes, its menu entry, and who may see it.

    Closed unless `public` says otherwise. A view's name is its endpoint, so `admin.NAME` in `url_for`.
    """

    def __init__(self, *, menu: str = "", under: Page | None = None, public: bool = False) -> None:
        self.menu = menu
        self.under = under or self
        """The page whose menu entry is marked while this one is shown."""
        self.public = public
        self.routes: list[Route] = []

    @property
    def endpoint(self) -> str:
        """Endpoint of the page itself: that of its first route."""
        return self.routes[0].endpoint

    def get(self, rule: str, *, framed: bool = False) -> Callable[[View], View]:
        return self._route(rule, "GET", framed=framed)

    def post(self, rule: str, *, large: bool = False) -> Callable[[View], View]:
        return self._route(rule, "POST", large=large)

    def register(self, blueprint: Blueprint) -> None:
        for route in self.routes:
            blueprint.add_url_rule(route.rule, route.endpoint, route.view, methods=[route.method])

    def _route(
        self, rule: str, method: str, *, large: bool = False, framed: bool = False
    ) -> Callable[[View], View]:
        def remember(view: View) -> View:
            self.routes.append(Route(rule, view.__name__, method, view, large, framed))
            return view

        return remember
