"""Runs the server's processes side by side with Honcho and shows what they say."""

import os
import shlex
import sys
import threading
from pathlib import Path

from honcho.manager import Manager
from honcho.printer import Message, Printer

ROOT = Path(__file__).parent.parent.parent
"""Where `python -m server` is found."""


MEMORY = {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Unless the environment has others: by default each of many threads keeps memory of its own."""


class _QuietPrinter(Printer):  # type: ignore[misc]  # honcho has no types
    """Shows the processes' own lines; Honcho's about starting and stopping only when debugging."""

    def __init__(self, *, everything: bool) -> None:
        # Each process writes the time itself.
        super().__init__(sys.stdout, time_format="")
        self._everything = everything
        self._lock = threading.Lock()

    def write(self, message: Message) -> None:
        """One line at a time, from any thread."""
        if message.name == "system" and not self._everything:
            return
        with self._lock:
            super().write(message)


class Supervisor:
    """Starts processes, restarts those that die, ends all of them together."""

    def __init__(self, log_level: str) -> None:
        self._debug = log_level == "debug"
        self._manager = Manager(_QuietPrinter(everything=self._debug))
        self._ended = threading.Event()

    def add(self, name: str, command: list[str], environment: dict[str, str], *, quiet: bool = False) -> None:
        """A process to start; `quiet` hides what it prints unless LOG_LEVEL is debug."""
        keep = [sys.executable, "-m", "server.commands.keep", "--supervisor", str(os.getpid()), "--"]
        self._manager.add_process(
            name,
            f"exec {shlex.join([*keep, *command])}",
            quiet=quiet and not self._debug,
            env={**MEMORY, **environment, "PYTHONUNBUFFERED": "1"},
            cwd=str(ROOT),
        )

    def run(self) -> int:
        """Blocks until every process has ended; 0 after Ctrl-C or SIGTERM."""
        self._manager.loop()
        self._ended.set()
        code = int(self._manager.returncode or 0)
        return 0 if code in (130, 143) else code

    def wait(self, seconds: float) -> bool:
        """Sleeps; true when the server ended meanwhile."""
        return self._ended.wait(seconds)
