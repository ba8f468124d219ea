"""How the routes reach the rest of Docent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from flask import current_app

from server.domain.site import Site
from server.storage.sites.sites import SiteStore

if TYPE_CHECKING:
    from server.answering.chat import Chat
    from server.api.visitor.streams import Streams
    from server.api.visitor.tokens import VisitorTokens
    from server.guards.proof_of_work import ProofOfWork
    from server.runtime.configuration import Configuration
    from server.runtime.crawling import Crawling
    from server.runtime.engine import SiteEngine
    from server.runtime.runtime import Runtime
    from server.runtime.shared import Shared
    from server.runtime.stores import DeliveryStores, DialogueStores, PeopleStores, SiteStores


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


def runtime() -> Runtime:
    """Return the runtime of the application that answers this request."""
    return cast("Runtime", current_app.extensions["docent"])


def configuration() -> Configuration:
    """Return settings, folder and secrets."""
    return runtime().configuration


def stores() -> SiteStores:
    """Return the stores of sites."""
    return runtime().stores


def dialogue() -> DialogueStores:
    """Return the stores of conversations."""
    return runtime().dialogue


def delivery() -> DeliveryStores:
    """Return the stores of messages and events."""
    return runtime().delivery


def people_stores() -> PeopleStores:
    """Return the stores of operators and API keys."""
    return runtime().people


def shared() -> Shared:
    """Return what all processes share."""
    return runtime().shared


def engine() -> SiteEngine:
    """Return what answers sites."""
    return runtime().engine


def crawling() -> Crawling:
    """Return what starts and controls crawls."""
    return runtime().crawling


def chat() -> Chat:
    """Return what answers visitors."""
    return runtime().chat


def streams() -> Streams:
    """The answers that are being written in this process."""
    return cast("Streams", current_app.extensions["docent-streams"])


def recent_sites() -> RecentSites:
    """The sites, as they were at most a second ago."""
    return cast("RecentSites", current_app.extensions["docent-sites"])


def visitor_tokens() -> VisitorTokens:
    """Makes and reads visitors' tokens."""
    return cast("VisitorTokens", current_app.extensions["docent-tokens"])


def proof_of_work() -> ProofOfWork:
    """Makes and checks what new visitors of busy sites have to solve."""
    return cast("ProofOfWork", current_app.extensions["docent-proofs"])
