"""`python -m server run`: the whole server under one supervisor, and the first site."""

from __future__ import annotations

import argparse
import os
import shlex
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from honcho.manager import Manager
from honcho.printer import Message, Printer

from server.errors import DocentError, StartError
from server.jobs.site_setup import docs_site, site_from_address
from server.models.minilm_weights import is_built
from server.settings import Settings
from server.settings.reading import environment
from server.storage.data_folder import DataFolder


class _QuietPrinter(Printer):  # type: ignore[misc]  # honcho has no types
    """Shows the processes' own lines; Honcho's about starting and stopping only when debugging."""

    def __init__(self, *, everything: bool) -> None:
        # Each process writes the time itself.
        super().__init__(sys.stdout, time_format="")
        self._everything = everything
        self._lock = threading.Lock()

    def write(self, message: Message) -> None:
        """One line at a time, also when the onboarding thread prints between them."""
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
        keeper = [
            sys.executable,
            "-m",
            "server.commands.keep",
            "--supervisor",
            str(os.getpid()),
            "--",
            *command,
        ]
        here = Path(__file__).parent.parent.parent
        self._manager.add_process(
            name,
            f"exec {shlex.join(keeper)}",
            quiet=quiet and not self._debug,
            env={**environment, "PYTHONUNBUFFERED": "1"},
            cwd=str(here),
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


if TYPE_CHECKING:
    from server.runtime.runtime import Runtime


def onboard(settings: Settings, supervisor: Supervisor) -> None:
    """Waits until the web workers answer, adds the first site, shows its crawl and prints the addresses."""
    started = time.monotonic()
    if not _answers(settings, supervisor):
        return
    try:
        from server.runtime.runtime import open_runtime  # costs seconds, which the other processes need first

        runtime = open_runtime(settings)
        site_id, is_new = _first_site(settings, runtime)
        _print_addresses(settings, runtime, site_id, time.monotonic() - started)
        if is_new:
            _follow_crawl(runtime, site_id, supervisor)
        runtime.close()
    except DocentError as error:
        print(f"docent: {error}", flush=True)


def _answers(settings: Settings, supervisor: Supervisor) -> bool:
    host = "127.0.0.1" if settings.serving.host in ("0.0.0.0", "") else settings.serving.host
    while not supervisor.wait(0.1):
        try:
            with urllib.request.urlopen(f"http://{host}:{settings.serving.port}/healthz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            continue
    return False


def _first_site(settings: Settings, runtime: Runtime) -> tuple[str, bool]:
    """(id of the site to show, whether it was just added)."""
    wanted = (
        site_from_address(settings.serving.site, settings) if settings.serving.site else docs_site(settings)
    )
    known = runtime.stores.sites.find(wanted.id)
    if known is None and (settings.serving.site or not runtime.stores.sites.all()):
        runtime.stores.sites.create(wanted)
        runtime.crawling.start(wanted.id)
        return wanted.id, True
    shown = known or runtime.stores.sites.all()[0]
    if (
        runtime.stores.content(shown.id).live_generation() == 0
        and runtime.stores.crawls.latest(shown.id) is None
    ):
        runtime.crawling.start(shown.id)
        return shown.id, True
    return shown.id, False


def _print_addresses(settings: Settings, runtime: Runtime, site_id: str, seconds: float) -> None:
    base = settings.serving.base_url
    lines = [
        f"Docent is up after {seconds:.1f} s.",
        f"  Widget     {base}/demo/{site_id}",
        f"  Dashboard  {base}/admin/",
        f"  API        {base}/api/openapi.json",
    ]
    if runtime.people.operators.count() == 0:
        token = runtime.people.operators.setup_token()
        lines[2] = f"  Dashboard  {base}/admin/setup?token={token}"
        lines.append("  The dashboard link works once: it makes the first operator's account.")
    print("\n" + "\n".join(lines) + "\n  Ctrl-C stops everything.\n", flush=True)


def _follow_crawl(runtime: Runtime, site_id: str, supervisor: Supervisor) -> None:
    shown = ""
    while not supervisor.wait(0.5):
        crawl = runtime.stores.crawls.latest(site_id)
        if crawl is None:
            return
        line = (
            f"Crawling {site_id}: {crawl.found} pages found, {crawl.fetched} fetched, {crawl.indexed} indexed"
        )
        if line != shown:
            print(line, flush=True)
            shown = line
        if crawl.state == "done":
            print(f"{site_id} is ready: ask it something.", flush=True)
            return
        if crawl.state in ("failed", "stopped"):
            print(f"The crawl of {site_id} {crawl.state}: {crawl.message}", flush=True)
            return


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
    if not settings.models.embedding_model and not is_built(folder.path / "models"):
        from server.models.embedded import prepare  # costs a second, and is needed once

        prepare(folder.path / "models", on_progress=lambda line: print(line, flush=True))
    chroma_url = settings.storage.chroma_url
    supervisor = Supervisor(settings.serving.log_level)
    chroma_lock = None
    if not chroma_url:
        chroma_lock = folder.claim_chroma()
        port = free_port()
        chroma_url = f"http://127.0.0.1:{port}"
        supervisor.add("chroma", _chroma_command(folder, port), environment(settings), quiet=True)
    child = environment(settings.with_values({"chroma_url": chroma_url, "data_dir": folder.path}))
    supervisor.add("web", [sys.executable, "-m", "server", "web"], child)
    supervisor.add("worker", [sys.executable, "-m", "server", "worker"], child)
    folder.announce(chroma_url, settings.serving.port)
    served = settings.with_values({"chroma_url": chroma_url, "data_dir": folder.path})
    threading.Thread(target=onboard, args=(served, supervisor), name="onboarding", daemon=True).start()
    code = supervisor.run()
    if chroma_lock:
        chroma_lock.release()
    return code


def _chroma_command(folder: DataFolder, port: int) -> list[str]:
    program = Path(sys.executable).parent / "chroma"
    where = ["--path", str(folder.path / "chroma"), "--host", "127.0.0.1", "--port", str(port)]
    return [str(program), "run", *where]


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
