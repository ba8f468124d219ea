"""The commands of the shell. `server.commands.NAME` has what the command NAME does.

Each of them has `HELP` (one line), `arguments(parser)` and `run(options, settings) -> exit code`. `keep` and
`onboarding` are no commands: `run` starts them as processes.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

COMMANDS = (
    "run", "crawl", "crawls", "ask", "playground", "evaluate", "testset", "strategies", "sites", "scope",
    "sources", "curated", "operators", "audit", "keys", "backup", "restore", "packages", "doctor", "settings",
    "prepare", "web", "worker",
)  # fmt: skip

INTERRUPTED = 130
"""Exit code of a command that was interrupted."""


@contextmanager
def first_ctrl_c(end: Callable[[], object]) -> Iterator[None]:
    """Call `end` at the first Ctrl-C, which ends the work in good order; the second ends the process. Only
    the main thread hears of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def hear(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        end()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
