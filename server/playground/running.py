"""Runs of the playground: asked in threads, kept under an address that can be handed on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import Any

from server.answering.engine import Engine
from server.domain.protocols import ModelError
from server.domain.site import Site
from server.errors import DocentError
from server.playground.asking import Asking, NotBuilt, OutOfTime, without_secrets
from server.playground.order import Order, Variant, WrongOrder
from server.playground.store import DONE, FAILED, KeptRun, PlaygroundStore
from server.storage.errors import StorageError

AT_ONCE = 8
"""Variants that one process asks side by side."""
_log = logging.getLogger(__name__)


class Playground:
    """Asks with settings that are kept nowhere but in the run itself."""

    def __init__(self, engine: Engine, runs: PlaygroundStore) -> None:
        self._engine = engine
        self._runs = runs
        self._free = BoundedSemaphore(AT_ONCE)
        self._under_way: dict[str, list[Thread]] = {}

    def start(self, site: Site, order: Order, typed: Mapping[str, str], asked_by: str) -> KeptRun:
        """Begins to ask by every variant of the order. `typed` is what the form is filled with again. Raises
        WrongOrder for a site that is not indexed, or when too much is being asked already."""
        if not site.generation:
            raise WrongOrder({"site": "This site is not read yet, so nothing can be asked of it."})
        for taken, _ in enumerate(order.variants):
            if not self._free.acquire(blocking=False):
                self._release(taken)
                raise WrongOrder({"question": "Others are asking here already: try again in a moment."})
        asked = {"typed": dict(typed), "ways": [asdict(variant) for variant in order.variants]}
        kept = without_secrets({"question": order.question, "asked": asked}, self._engine.settings)
        try:
            run = self._runs.start(site.id, kept["question"], kept["asked"], len(order.variants), asked_by)
            self._runs.prune(site.id, self._engine.settings.quality.playground_runs)
        except BaseException:
            self._release(len(order.variants))
            raise
        threads = [
            Thread(
                target=self._ask, args=(run.id, number, site, order, variant), name="playground", daemon=True
            )
            for number, variant in enumerate(order.variants)
        ]
        for thread in threads:
            thread.start()
        ended = [id for id, known in list(self._under_way.items()) if not any(t.is_alive() for t in known)]
        for id in ended:
            self._under_way.pop(id, None)
        self._under_way[run.id] = threads
        return run

    def wait(self, run_id: str, seconds: float) -> None:
        """Until every variant of a run that this process asks has ended, or this time is over."""
        until = monotonic() + seconds
        for thread in self._under_way.get(run_id, []):
            thread.join(max(0.0, until - monotonic()))

    def _release(self, count: int) -> None:
        for _ in range(count):
            self._free.release()

    def _ask(self, run_id: str, number: int, site: Site, order: Order, variant: Variant) -> None:
        try:
            state, result = self._result(site, order, variant)
            safe = without_secrets(result, self._engine.settings)
            self._runs.finish(run_id, number, state, safe)
        except StorageError:
            _log.exception("what a run of the playground came to cannot be stored")
        finally:
            self._free.release()

    def _result(self, site: Site, order: Order, variant: Variant) -> tuple[str, dict[str, Any]]:
        seconds = self._engine.settings.quality.playground_seconds
        try:
            asking = Asking(self._engine, site, order, variant, seconds)
        except ModelError as error:
            return FAILED, {"problem": str(error)}
        try:
            return DONE, asking.run()
        except NotBuilt as missing:
            return FAILED, {"problem": str(missing), "plan": asdict(missing.plan), **asking.spent()}
        except OutOfTime:
            problem = f"it took longer than {seconds:g} s, which PLAYGROUND_SECONDS allows"
        except DocentError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001  whatever fails, fails in its own column alone
            _log.exception("a variant of the playground failed")
            problem = f"it failed with {type(error).__name__}; the server's log says more"
        return FAILED, {"problem": problem, "prompts": asking.prompts(), **asking.spent()}
