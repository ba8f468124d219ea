"""Signs of life: of the job worker, and since when each part is as it is. In the shared cache, for every
process; no harm when it is lost."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from threading import Event

from server.domain.protocols import Cache
from server.storage.errors import StorageError

log = logging.getLogger(__name__)

EVERY_S = 5.0
KEPT_S = 30 * 86_400.0
_WORKER = "heartbeat:worker"


class Heartbeat:
    """For any number of processes."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def run(self, ending: Event) -> None:
        """What a worker does beside its jobs, until `ending` is set."""
        while not ending.is_set():
            try:
                self.beat()
            except StorageError as error:
                log.warning("the worker's sign of life is not kept: %s", error)
            ending.wait(EVERY_S)

    def beat(self) -> None:
        """A worker is alive now."""
        self._cache.set(_WORKER, datetime.now(UTC).isoformat(), KEPT_S)

    def last(self) -> datetime | None:
        """When a worker was alive last; None when none ever was, or it is not known."""
        known = self._cache.get(_WORKER)
        return datetime.fromisoformat(known) if known else None

    def since(self, part: str, is_well: bool) -> datetime:
        """Since when a part is as it is, as far as anybody looked."""
        key, state = f"heartbeat:part:{part}", "well" if is_well else "bad"
        was, _, moment = (self._cache.get(key) or "").partition(" ")
        if was != state:
            moment = datetime.now(UTC).isoformat()
        self._cache.set(key, f"{state} {moment}", KEPT_S)
        return datetime.fromisoformat(moment)
