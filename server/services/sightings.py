"""Where the widget was seen at work: the pages whose visitors got a token, by origin."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from server.domain.addresses import origin_of
from server.domain.protocols import Cache
from server.domain.site import Site

KEPT_S = 90 * 86_400.0
NOTED_EVERY_S = 60.0
"""A busy site writes no more often."""


class Sightings:
    """In the shared cache: known to every process, and no harm when it is lost."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def note(self, site_id: str, origin: str) -> None:
        """A visitor on a page of `origin` began to use the widget of the site."""
        if origin and self._cache.add(f"{_key(site_id, origin)}:recent", "1", NOTED_EVERY_S):
            self._cache.set(_key(site_id, origin), str(time.time()), KEPT_S)

    def of(self, site: Site) -> dict[str, datetime]:
        """Origin -> when it was last seen there, the newest first; of the origins that the site lists."""
        seen = {
            origin: self._cache.get(_key(site.id, origin)) for origin in map(origin_of, site.allowed_origins)
        }
        known = {origin: datetime.fromtimestamp(float(at), UTC) for origin, at in seen.items() if at}
        return dict(sorted(known.items(), key=lambda item: item[1], reverse=True))


def _key(site_id: str, origin: str) -> str:
    return f"widget-seen:{site_id}:{origin[:300]}"
