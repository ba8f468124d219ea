"""Which process works on something, so that another one can take over when it is gone."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from uuid import uuid4

LEASE_S = 15.0
"""A holder that was not heard of for so long is gone, wherever it ran."""

_ours: set[str] = set()


def new_holder() -> str:
    """A name for a piece of work of this process."""
    holder = f"{_place()} {os.getpid()} {uuid4().hex[:12]}"
    _ours.add(holder)
    return holder


def is_gone(holder: str) -> bool:
    """Whether the process that works under this name surely does not run any more; False when unsure."""
    place, _, rest = holder.partition(" ")
    number = rest.partition(" ")[0]
    if not number:
        return True
    if not place or place != _place():
        return False
    if int(number) == os.getpid():
        # This process may have got the number of the one that was killed.
        return holder not in _ours
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@cache
def _place() -> str:
    """The machine since it was started, and the space that process numbers count in; empty if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""
