"""Ctrl-C in commands that take long: the first ends the work in good order, the second the process."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""Exit code of a command that was interrupted."""


@contextmanager
def first_ctrl_c(end: Callable[[], object]) -> Iterator[None]:
    """Call `end` at the first Ctrl-C. Only the main thread hears of it."""
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
