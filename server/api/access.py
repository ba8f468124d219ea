"""How the routes and the pages of the dashboard reach the rest of Docent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flask import current_app

from server.domain.site import Site
from server.storage.sites.sites import SiteStore

if TYPE_CHECKING:
    from server.answering.chat import Chat
    from server.api.visitor.streams import Streams
    from server.api.visitor.tokens import VisitorTokens
    from server.gaps.gap_work import GapWork
    from server.gaps.own_answers import OwnAnswers
    from server.guards.proof_of_work import ProofOfWork
    from server.playground.asking import Playground
    from server.runtime.configuration import Configuration
    from server.runtime.crawling import Crawling
    from server.runtime.engine import SiteEngine
    from server.runtime.runtime import Runtime
    from server.runtime.stores import (
        DeliveryStores,
        DialogueStores,
        PeopleStores,
        QualityStores,
        Shared,
        SiteStores,
    )
    from server.storage.database import Database


FRESH_S = 1.0
"""Seconds until what an operator changed is known to every web process."""


class RecentSites:
    """All sites, read again when the last reading is older than `FRESH_S`. An id that is not among
    them is looked up at once, so that a new site answers from its first moment."""

    def __init__(self, store: SiteStore) -> None:
        self._store = store
        self._read_at = float("-inf")
        self._sites: dict[str, Site] = {}

    def all(self) -> tuple[Site, ...]:
        """Every site."""
        return tuple(self._known().values())

    def find(self, site_id: str) -> Site | None:
        """The site; None when there is no such one."""
        return self._known().get(site_id) or self._store.find(site_id)

    def _known(self) -> dict[str, Site]:
        # Two threads may read at once; either result is as good as the other.
        now = time.monotonic()
        if now - self._read_at > FRESH_S:
            self._sites = {site.id: site for site in self._store.all()}
            self._read_at = now
        return self._sites


def _of_app(name: str) -> Callable[[], Any]:
    """Return a function that finds what the application of the current request keeps under this name."""
    return lambda: current_app.extensions[name]


def _of_runtime(name: str) -> Callable[[], Any]:
    """Return a function that finds this part of the runtime."""
    return lambda: getattr(runtime(), name)


runtime: Callable[[], Runtime] = _of_app("docent")
streams: Callable[[], Streams] = _of_app("docent-streams")
recent_sites: Callable[[], RecentSites] = _of_app("docent-sites")
visitor_tokens: Callable[[], VisitorTokens] = _of_app("docent-tokens")
proof_of_work: Callable[[], ProofOfWork] = _of_app("docent-proofs")

configuration: Callable[[], Configuration] = _of_runtime("configuration")
database: Callable[[], Database] = _of_runtime("database")
stores: Callable[[], SiteStores] = _of_runtime("stores")
dialogue: Callable[[], DialogueStores] = _of_runtime("dialogue")
delivery: Callable[[], DeliveryStores] = _of_runtime("delivery")
people_stores: Callable[[], PeopleStores] = _of_runtime("people")
quality_stores: Callable[[], QualityStores] = _of_runtime("quality")
shared: Callable[[], Shared] = _of_runtime("shared")
engine: Callable[[], SiteEngine] = _of_runtime("engine")
crawling: Callable[[], Crawling] = _of_runtime("crawling")
chat: Callable[[], Chat] = _of_runtime("chat")
own_answers: Callable[[], OwnAnswers] = _of_runtime("own_answers")
gap_work: Callable[[], GapWork] = _of_runtime("gap_work")
playground_runner: Callable[[], Playground] = _of_runtime("playground")
