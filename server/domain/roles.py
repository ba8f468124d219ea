"""What an operator may do on the dashboard."""

from __future__ import annotations

from enum import StrEnum

SiteSet = frozenset[str] | None
"""Ids of sites; None for every site."""


def site_list(sites: SiteSet) -> str:
    """The ids as people read them."""
    return "all" if sites is None else ", ".join(sorted(sites)) or "none"


class Role(StrEnum):
    """Each may all that the ones before it may."""

    VIEWER = "viewer"
    """Sees everything but settings and people; changes nothing."""
    EDITOR = "editor"
    """Also changes sites, answers and crawls."""
    OWNER = "owner"
    """Also changes settings and people, and deletes sites."""

    def may(self, needed: Role) -> bool:
        """Return whether it is enough for what needs `needed`."""
        order = list(Role)
        return order.index(self) >= order.index(needed)
