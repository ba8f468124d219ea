"""Notices when a site gets far more questions than usual, so that new visitors prove work while that lasts.

The rate is counted from stored questions. The state is in the shared cache, for every process.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic

from server.domain.protocols import Cache
from server.guards.limits import allowed_within
from server.storage.conversations.figures import FigureStore

WINDOW = timedelta(minutes=10)
FEWEST = 300
"""Questions in a window that are never unusual: one every two seconds."""
TIMES = 10
"""How often more than on the busiest day of the last four weeks is unusual."""
USUAL_DAYS = 28
BITS = 16
"""Of the proof of work that a surge asks for: about two seconds of a browser."""
LOOK_EVERY_S = 5.0
KEPT_S = 1800.0


class Surges:
    """Switches itself on above the usual range, and off again below half of its upper end."""

    def __init__(
        self,
        cache: Cache,
        rates: FigureStore,
        *,
        address_limit: Callable[[], str] = lambda: "1/minute",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`address_limit` returns the rate limit of an address: what one alone may ask is no surge."""
        self._cache = cache
        self._rates = rates
        self._address_limit = address_limit
        self._now = now
        self._looked: dict[str, tuple[float, datetime | None]] = {}

    def since(self, site_id: str) -> datetime | None:
        """Return since when the site gets unusually many questions; None if it does not."""
        at, known = self._looked.get(site_id, (float("-inf"), None))
        if monotonic() - at >= LOOK_EVERY_S:
            known = self._look(site_id)
            self._looked[site_id] = (monotonic(), known)
        return known

    def most(self, site_id: str) -> int:
        """Return the upper end of the site's usual range: questions in ten minutes."""
        today = self._now().date()
        days = today - timedelta(days=USUAL_DAYS), today - timedelta(days=1)
        usual = TIMES * self._rates.busiest_day(site_id, *days) * WINDOW // timedelta(days=1)
        return max(FEWEST, usual, allowed_within(self._address_limit(), WINDOW.total_seconds()))

    def _look(self, site_id: str) -> datetime | None:
        key, now = f"surge:{site_id}", self._now()
        noted = self._cache.get(key)
        asked, most = self._rates.asked_since(site_id, now - WINDOW), self.most(site_id)
        if asked > most or (noted and 2 * asked > most):
            began = noted or now.isoformat()
            self._cache.set(key, began, KEPT_S)
            return datetime.fromisoformat(began)
        if noted:
            self._cache.delete(key)
        return None
