"""What the processes of an installation share besides the database: cache, rate limits, signs of life."""

import time
from datetime import UTC, datetime
from functools import cached_property

from server.domain.addresses import origin_of
from server.domain.protocols import Cache
from server.domain.site import Site
from server.guards.limits import RateLimits
from server.jobs.upkeep import Heartbeat
from server.settings import Settings
from server.storage.data_folder import DataFolder
from server.storage.shared_cache import DiskSharedCache, RedisSharedCache

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


class Shared:
    """Opened at the first use: in Redis where it is configured, else in the data folder."""

    def __init__(self, settings: Settings, folder: DataFolder) -> None:
        self._settings = settings
        self._folder = folder

    @cached_property
    def cache(self) -> Cache:
        """Small values with a time to live."""
        if self._settings.storage.redis_url:
            return RedisSharedCache(self._settings.storage.redis_url)
        return DiskSharedCache(self._folder.path / "cache" / "shared")

    @cached_property
    def limits(self) -> RateLimits:
        """Rate limits of visitors, addresses, keys and logins."""
        return RateLimits.open(self._settings.storage.redis_url, self._folder.path / "cache" / "limits")

    @cached_property
    def heartbeat(self) -> Heartbeat:
        """Signs of life of the job worker."""
        return Heartbeat(self.cache)

    @cached_property
    def sightings(self) -> Sightings:
        """Where the widget was seen at work."""
        return Sightings(self.cache)
