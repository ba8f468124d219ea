"""An evaluation beside a server: started, watched, stopped."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from server.domain.derived import BuildStopped
from server.domain.spending import Used
from server.errors import DocentError
from server.quality.evaluating import Evaluating, EvaluationOrder

if TYPE_CHECKING:
    from server.runtime.container import Services

OPENING, RUNNING, DONE, STOPPED, FAILED = "opening", "running", "done", "stopped", "failed"


@dataclass
class EvaluationThread:
    """Runs one evaluation; implements Monitor. What was done is kept in the order's folder, so an evaluation
    that was stopped goes on when the same order is started again."""

    services: Services
    order: EvaluationOrder
    state: str = OPENING
    step_name: str = ""
    done: int = 0
    total: int = 0
    used: Used = field(default_factory=Used)
    """What models took for building indexes."""
    message: str = ""
    """Why it failed."""
    report: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evaluation", daemon=True)

    def start(self) -> EvaluationThread:
        """Begins; returns at once."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends it after the question at hand."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended within this time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def step(self, name: str, done: int, total: int) -> None:
        """As Monitor."""
        if self._stop.is_set():
            raise BuildStopped(f"stopped at {name}")
        self.step_name, self.done, self.total = name, done, total

    def spent(self, used: Used) -> None:
        """As Monitor."""
        self.used = self.used.plus(used)

    def _run(self) -> None:
        try:
            evaluating = Evaluating(self.services, self.order)
            evaluating.open(self)
            self.state = RUNNING
            self.report = evaluating.run(self)
            self.state = DONE
        except BuildStopped:
            self.state = STOPPED
        except DocentError as error:
            self.state, self.message = FAILED, str(error)
        except Exception as error:
            # Anything else is a fault of ours: whoever watches must not wait for ever.
            self.state, self.message = FAILED, f"{type(error).__name__}: {error}"
            raise


def start_evaluation(services: Services, order: EvaluationOrder) -> EvaluationThread:
    """The evaluation, under way in a thread of its own. Indexes that a model builds are built without asking:
    show `Evaluating.plan()` first."""
    return EvaluationThread(services, order).start()
