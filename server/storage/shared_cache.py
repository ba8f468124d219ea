"""Small values that every process of one installation shares, with a time to live."""

from __future__ import annotations

from pathlib import Path

from server.storage.columns import storable
from server.storage.disk_folder import DiskFolder
from server.storage.redis_server import RedisServer

MEGABYTES = 256


class DiskSharedCache:
    """A cache in a folder, for all processes of one machine. Implements the protocol Cache."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = DiskFolder(folder, MEGABYTES)

    def get(self, key: str) -> str | None:
        """The value, or None when it is absent or expired."""
        value: str | None = self._folder.run(lambda cache: cache.get(storable(key)))
        return value

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Stores or replaces."""
        self._folder.run(lambda cache: cache.set(storable(key), storable(value), expire=ttl_s))

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Stores only if the key is absent or expired; says whether it stored."""
        return bool(self._folder.run(lambda cache: cache.add(storable(key), storable(value), expire=ttl_s)))

    def delete(self, key: str) -> None:
        """Removes the value. An absent one is no error."""
        self._folder.run(lambda cache: cache.delete(storable(key)))

    def close(self) -> None:
        """Closes the folder."""
        self._folder.close()


class RedisSharedCache:
    """A cache in Redis, for any number of machines. Implements the protocol Cache."""

    def __init__(self, url: str) -> None:
        self._server = RedisServer(url)

    def get(self, key: str) -> str | None:
        """The value, or None when it is absent or expired."""
        with self._server.client() as client:
            value = client.get(_key(key))
        return None if value is None else str(value)

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Stores or replaces."""
        with self._server.client() as client:
            client.set(_key(key), storable(value), px=_milliseconds(ttl_s))

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Stores only if the key is absent or expired; says whether it stored."""
        with self._server.client() as client:
            return bool(client.set(_key(key), storable(value), px=_milliseconds(ttl_s), nx=True))

    def delete(self, key: str) -> None:
        """Removes the value. An absent one is no error."""
        with self._server.client() as client:
            client.delete(_key(key))

    def close(self) -> None:
        """Closes every connection."""
        self._server.close()


def _key(key: str) -> str:
    return f"docent:cache:{storable(key)}"


def _milliseconds(seconds: float) -> int:
    # Redis refuses a time to live of 0; one millisecond is as good as none.
    return max(1, round(seconds * 1000))
