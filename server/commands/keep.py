"""`python -m server.commands.keep --supervisor PID -- COMMAND...`: a process that is started again.

The supervisor (Honcho) ends everything when one of its processes ends, so each of them is one of
these. It ends its child on SIGTERM, and also when the supervisor itself is gone, so that a killed
server leaves no process behind that holds its port or its folder.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections import deque
from types import FrameType

TRIES, WITHIN_S = 5, 60.0
"""A process that dies so often within so many seconds is given up."""
GRACE_S = 4.0
"""Seconds between SIGTERM and SIGKILL; shorter than Honcho's own five."""


def main() -> int:
    """Exit code of the command when it ended well or was given up."""
    parser = argparse.ArgumentParser(description="Runs a process and starts it again when it dies.")
    parser.add_argument(
        "--supervisor", type=int, required=True, help="process id that this one must not outlive"
    )
    parser.add_argument("process", nargs="+", help="the command and its arguments")
    options = parser.parse_args()
    return _Keeper(options.process, options.supervisor).run()


class _Keeper:
    def __init__(self, command: list[str], supervisor: int) -> None:
        self._command = command
        self._supervisor = supervisor
        self._ending = False
        self._deaths: deque[float] = deque(maxlen=TRIES)

    def run(self) -> int:
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)
        while True:
            child = subprocess.Popen(self._command)
            code = self._wait(child)
            if self._ending or code == 0:
                return 0
            if self._hopeless():
                return code
            print(f"ended unexpectedly (exit code {code}); starting it again", flush=True)

    def _wait(self, child: subprocess.Popen[bytes]) -> int:
        while not self._ending and not self._orphaned():
            try:
                return child.wait(timeout=0.25)
            except subprocess.TimeoutExpired:
                continue
        self._ending = True
        child.terminate()
        try:
            return child.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            return child.wait()

    def _hopeless(self) -> bool:
        now = time.monotonic()
        self._deaths.append(now)
        return len(self._deaths) == TRIES and now - self._deaths[0] < WITHIN_S

    def _orphaned(self) -> bool:
        try:
            os.kill(self._supervisor, 0)
        except ProcessLookupError:
            return True
        return False

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending = True


if __name__ == "__main__":
    sys.exit(main())
