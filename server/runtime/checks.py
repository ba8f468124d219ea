"""Checks that the Health page and `doctor` share: each returns what it found, or raises Failed with what to
do.

`doctor` has further ones, which connect to other machines or start programs.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

from server.domain.contact import ContactOptions
from server.runtime.engine import state_of
from server.runtime.runtime import Runtime

LATE = timedelta(minutes=10)
SKEW_S = 5.0
"""Seconds by which clocks may differ: a crawl's worker counts as gone after 15."""


class Failed(Exception):
    """A check that did not pass; the message says what to do."""


def states(runtime: Runtime, counts: bool) -> dict[str, str]:
    """Return "ok" or the problem of each part that is in use, by name. `counts` is whether this process
    counts for metrics."""
    checks: dict[str, Callable[[], str]] = {
        "cache": partial(check_cache, runtime),
        "clock": partial(check_clock, runtime),
        "webhooks": partial(check_webhooks, runtime),
        "metrics": partial(_check_counting, runtime, counts),
    }
    return {name: state for name, check in checks.items() if (state := state_of(check))}


def check_cache(runtime: Runtime) -> str:
    """History, limits and caches."""
    redis_url = runtime.configuration.base.storage.redis_url
    runtime.shared.cache.set("doctor", "ok", 60)
    if runtime.shared.cache.get("doctor") != "ok":
        raise Failed("a value that was stored did not come back; check REDIS_URL or the disk of DATA_DIR")
    return "Redis answers" if redis_url else "kept in DATA_DIR/cache"


def check_clock(runtime: Runtime) -> str:
    """This machine's clock against the database's and the worker's."""
    advice = "set the clocks of all machines by NTP: leases, tokens and codes depend on them"
    ahead = runtime.database.clock_ahead_s()
    if abs(ahead) > SKEW_S:
        word = "ahead of" if ahead > 0 else "behind"
        raise Failed(f"the database's clock is {abs(ahead):.0f} s {word} this machine's; {advice}")
    last = runtime.shared.heartbeat.last()
    if last and (future := (last - datetime.now(UTC)).total_seconds()) > SKEW_S:
        raise Failed(f"a worker's last sign of life is {future:.0f} s in the future; {advice}")
    return "agrees with the database" if runtime.database.dialect == "postgresql" else "is not in the past"


def check_webhooks(runtime: Runtime) -> str:
    """Events that should have been delivered; empty without a webhook."""
    hooks = [hook for hook in runtime.delivery.webhooks.all() if hook.on]
    if not hooks:
        return ""
    since = runtime.delivery.event_deliveries.due_since()
    if since and datetime.now(UTC) - since > LATE:
        raise Failed("events wait and nothing sends them; start a worker: `python -m server worker`")
    return f"{len(hooks)} are on, no event is overdue"


def _check_counting(runtime: Runtime, counts: bool) -> str:
    if not runtime.configuration.base.serving.has_metrics:
        return ""
    if not counts:
        folder = runtime.configuration.folder.metrics
        raise Failed(f"{folder} cannot be written to; correct its permissions and restart Docent")
    return "counting"


def targets(runtime: Runtime) -> Iterator[str]:
    """Addresses of all webhooks: for events, and for messages to people."""
    yield from (hook.url for hook in runtime.delivery.webhooks.all() if hook.on)
    sites = runtime.stores.sites.all()
    yield from filter(None, (ContactOptions.of(site.options).webhook for site in sites))
