"""What the processes of a server use of the machine, read from /proc."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Use:
    """One process at one moment."""

    name: str
    pss_mb: float
    """Memory; pages shared with other processes count in part."""
    handles: int
    threads: int
    cpu_s: float


def family(*roots: int) -> set[int]:
    """Return the ids of these processes and of all their descendants."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                parents[int(folder.name)] = int(_stat(folder)[1])
    found = set(roots)
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def use(process: int) -> Use | None:
    """Return what a process uses now; None if it has ended."""
    folder = Path(f"/proc/{process}")
    try:
        stat, rollup = _stat(folder), (folder / "smaps_rollup").read_text()
        command = (folder / "cmdline").read_text().replace("\0", " ").split()
        pss = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        handles = len(list((folder / "fd").iterdir()))
    except (OSError, StopIteration):
        return None
    return Use(
        " ".join(Path(word).name for word in command[:4]),
        pss / 1024,
        handles,
        int(stat[17]),
        (int(stat[11]) + int(stat[12])) / TICKS,
    )


def memory_mb(*roots: int) -> float:
    """Return the memory of these processes and all their descendants, in MB."""
    return sum(one.pss_mb for one in map(use, family(*roots)) if one)


def disk_mb(folder: Path) -> float:
    """Return the size of everything in a folder."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total / 1e6


def listening(port: int) -> set[int]:
    """Return the ids of the processes that listen on a port of 127.0.0.1."""
    wanted = {
        f"socket:[{line.split()[9]}]"
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
    }
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(str(handle.readlink()) in wanted for handle in (folder / "fd").iterdir()):
                found.add(int(folder.name))
    return found


def cpu_seconds(address: str) -> float:
    """Return the processor time that the processes of a server of this machine have used so far."""
    port = int(address.rpartition(":")[2])
    return sum(one.cpu_s for one in map(use, listening(port)) if one)


def _stat(folder: Path) -> list[str]:
    return (folder / "stat").read_text().rpartition(")")[2].split()
