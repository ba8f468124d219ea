"""`python -m server run`: the server's processes side by side under Honcho, and the first site."""

import argparse
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

from honcho.manager import Manager
from honcho.printer import Message, Printer

from server.errors import StartError
from server.logs import json_line
from server.models.graph_file import is_built
from server.settings import Settings
from server.settings.reading import environment
from server.storage.data_folder import DataFolder

ROOT = Path(__file__).parent.parent.parent
"""Where `python -m server` is found."""


MEMORY = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "1048576",
    "MALLOC_TRIM_THRESHOLD_": "16777216",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Unless the environment has others: by default each of many threads keeps memory of its own, and a process
keeps most of what large numbers of vectors once took. The container image sets the same."""


class _QuietPrinter(Printer):  # type: ignore[misc]  # honcho has no types
    """Shows the processes' own lines; Honcho's about starting and stopping only when debugging."""

    def __init__(self, *, everything: bool, form: str) -> None:
        # Each process writes the time itself.
        super().__init__(sys.stdout, time_format="")
        self._everything = everything
        self._is_json = form == "json"
        self._lock = threading.Lock()

    def write(self, message: Message) -> None:
        """One line at a time, from any thread."""
        if message.name == "system" and not self._everything:
            return
        with self._lock:
            if not self._is_json:
                super().write(message)
                return
            for line in _text_of(message).splitlines():
                print(json_line(line, message.name or "docent"), file=self.output, flush=True)


def _text_of(message: Message) -> str:
    data = message.data
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)


class Supervisor:
    """Starts processes, restarts those that die, ends all of them together."""

    def __init__(self, log_level: str, log_format: str = "text") -> None:
        self._debug = log_level == "debug"
        self._manager = Manager(_QuietPrinter(everything=self._debug, form=log_format))
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


HELP = "start everything: Chroma, web workers, job worker; crawl the first site"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none: SITE, PORT, DATA_DIR and the rest are settings."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Serves until Ctrl-C or SIGTERM, then ends every process. Raises StartError."""
    _check_port(settings)
    folder = DataFolder(settings.storage.data_dir)
    lock = folder.claim_server()
    try:
        return _serve(settings, folder)
    finally:
        folder.retract()
        lock.release()


def _serve(settings: Settings, folder: DataFolder) -> int:
    is_own = settings.models.embedding_folder is not None
    if is_own or not (settings.models.embedding_model or is_built(settings.storage.models_folder)):
        # In a process of its own: loading the model takes memory that this process would keep.
        is_json = settings.serving.log_format == "json"
        prepared = subprocess.run(
            [sys.executable, "-m", "server", "prepare"],
            env=environment(settings),
            check=False,
            stdout=sys.stderr if is_json else None,
        )
        if prepared.returncode:
            return prepared.returncode
    shutil.rmtree(folder.metrics, ignore_errors=True)  # another version may have counted other things
    chroma_url = settings.storage.chroma_url
    supervisor = Supervisor(settings.serving.log_level, settings.serving.log_format)
    chroma_lock = None
    if not chroma_url:
        chroma_lock = folder.claim_chroma()
        port = free_port()
        chroma_url = f"http://127.0.0.1:{port}"
        command = chroma_command(folder.path / "chroma", port, settings.storage.chroma_open_indexes)
        supervisor.add("chroma", command, environment(settings), quiet=True)
    child = environment(settings.with_values({"chroma_url": chroma_url, "data_dir": folder.path}))
    supervisor.add("web", [sys.executable, "-m", "server", "web"], child)
    supervisor.add("worker", [sys.executable, "-m", "server", "worker"], child)
    folder.announce(chroma_url, settings.serving.port)
    threading.Thread(target=_onboard, args=(child, supervisor), name="onboarding", daemon=True).start()
    code = supervisor.run()
    if chroma_lock:
        chroma_lock.release()
    return code


def _onboard(values: dict[str, str], supervisor: Supervisor) -> None:
    """Show the first site's crawl until it has ended, or the server ends."""
    command = [sys.executable, "-m", "server.commands.onboarding"]
    process = subprocess.Popen(command, env=values, cwd=ROOT)
    while process.poll() is None:
        if supervisor.wait(0.2):
            process.terminate()
            process.wait()


def chroma_command(vectors: Path, port: int, open_indexes: int) -> list[str]:
    """Return the command of a Chroma server that keeps its files in the folder `vectors`, and at most
    `open_indexes` indexes in memory. Writes the server's options to a file next to that folder."""
    cache = {"capacity": open_indexes, "shards": 1, "eviction": "lru"}
    options = {
        "persist_path": str(vectors),
        "listen_address": "127.0.0.1",
        "port": port,
        # Chroma closes an index, even of a collection that was deleted, only when another needs its place.
        "segment_manager": {"hnsw_index_pool_cache_config": {"memory": cache}},
    }
    file = vectors.with_suffix(".json")
    # Chroma reads YAML, which does not know the escapes of JSON for letters outside the basic plane.
    file.write_text(json.dumps(options, ensure_ascii=False), encoding="utf-8")
    return [sys.executable, "-m", "server.indexes.chroma_server", "run", str(file)]


def _check_port(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.serving.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.serving.host, settings.serving.port))
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise StartError(
                f"cannot listen on {settings.serving.host}:{settings.serving.port}: {reason}; "
                f"stop what uses it or choose another: PORT={min(settings.serving.port + 1, 65535)} make run"
            ) from None


def free_port() -> int:
    """A port of the loopback interface that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
