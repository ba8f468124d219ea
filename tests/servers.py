"""Real servers for tests: started on free ports of 127.0.0.1 in temporary folders, stopped by pid.

Each is a context manager. A program that is not installed raises MissingProgram, whose message says
what to install; fixtures in server_fixtures.py turn that into a skip.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from werkzeug.serving import WSGIRequestHandler, make_server

from crawler.fetching.addresses import AddressGuard
from server.commands.run import ROOT, chroma_command

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication

HOST = "127.0.0.1"
HERE = AddressGuard(allow_private=True)
"""Lets a client reach servers of the tests."""
START_S = 60
ATTEMPTS = 3


class MissingProgram(Exception):
    """A program that a test needs is not installed; the message says how to get it."""


class ServerFailed(Exception):
    """A server did not start; the message ends with what it wrote."""


def _ports() -> Iterator[int]:
    """The ports of this process, each once: a range of its own, from a place by chance.

    All are below 32768: from there on a system gives ports to outgoing connections and to those who
    ask for any port, and a server that takes seconds to start would find its port taken.
    """
    ranges = 1 + int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0"))  # the last one is for no worker
    number = int(os.environ.get("PYTEST_XDIST_WORKER", f"gw{ranges - 1}").removeprefix("gw"))
    size = 20_000 // ranges
    first, begin = 11_000 + size * number, random.randrange(size)
    return (first + (begin + more) % size for more in range(size))


_PORTS = _ports()


def free_port() -> int:
    """A port that nobody listens on, and that nobody is given before its server starts."""
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port
    raise ServerFailed("no port is left between 11000 and 31000")


class _Handler(WSGIRequestHandler):
    def connection_dropped(self, error: BaseException, environ: dict[str, Any] | None = None) -> None:
        """Close the answer, and with it its file: Werkzeug does not when the client hangs up at its end."""
        answer = self.environ.get("docent.answer")
        if hasattr(answer, "close"):
            answer.close()


@contextmanager
def web_server(app: WSGIApplication, port: int = 0) -> Iterator[str]:
    """The application in this process, on a real socket; yields its address."""

    def remembering(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        answer = environ["docent.answer"] = app(environ, start_response)
        return answer

    server = make_server(HOST, port, remembering, threaded=True, request_handler=_Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="web server")
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def postgresql(connections: int = 60) -> Iterator[str]:
    """A PostgreSQL server with one empty database; yields its address."""
    initdb, postgres = _postgresql_program("initdb"), _postgresql_program("postgres")
    user = _unprivileged_user()
    with _folder(user) as folder:
        data = folder / "data"
        options = ["--auth=trust", "--username=docent", "--encoding=UTF8", "--locale=C", "--no-sync"]
        made = subprocess.run(
            [initdb, "-D", str(data), *options],
            user=user,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise ServerFailed(f"initdb failed: {made.stderr or made.stdout}")

        def command(port: int) -> list[str]:
            settings = {
                "listen_addresses": HOST,
                "port": str(port),
                "unix_socket_directories": str(folder),
                "fsync": "off",
                "full_page_writes": "off",
                "autovacuum": "off",
                "max_connections": str(connections),
                "timezone": "Asia/Kolkata",  # far from UTC, so that a time stored without its zone is seen
            }
            return [postgres, "-D", str(data), *(f"--{name}={value}" for name, value in settings.items())]

        # Immediate shutdown: what it holds is thrown away, so it need not be brought in order on disk.
        with _started(command, folder, _postgresql_answers, user=user, stop_signal=signal.SIGQUIT) as port:
            yield f"postgresql://docent@{HOST}:{port}/postgres"


@contextmanager
def redis_server() -> Iterator[str]:
    """An empty Redis server that writes nothing to disk; yields its address."""
    program = shutil.which("redis-server")
    if program is None:
        raise MissingProgram("redis-server is not installed: `apt-get install redis-server`")
    with _folder() as folder:
        fixed = ["--bind", HOST, "--save", "", "--appendonly", "no", "--dir", str(folder)]
        with _started(lambda port: [program, "--port", str(port), *fixed], folder, _redis_answers) as port:
            yield f"redis://{HOST}:{port}/0"


@contextmanager
def chroma_server(path: Path, open_indexes: int = 32) -> Iterator[str]:
    """A Chroma server on the folder `path`, as Docent starts it; yields its address."""
    with _folder() as folder:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder)}
        with _started(
            lambda port: chroma_command(path, port, open_indexes),
            folder,
            _chroma_answers,
            environment=environment,
        ) as port:
            yield f"http://{HOST}:{port}"


PROVIDER = Path(__file__).parent / "provider" / "provider.mjs"


@contextmanager
def openid_provider(redirect_uri: str) -> Iterator[str]:
    """A provider of OpenID Connect that lets everybody in, with a client "docent" whose secret is "a-secret";
    yields its issuer."""
    library = Path(sys.prefix) / "provider" / "node_modules" / "oidc-provider" / "lib" / "index.js"
    node = shutil.which("node")
    if node is None or not library.exists():
        raise MissingProgram("npm's oidc-provider is not installed: make .venv/.node, which needs npm")
    with _folder() as folder:
        fixed = [node, str(PROVIDER), str(library), redirect_uri]
        with _started(lambda port: [*fixed, str(port)], folder, _provider_answers) as port:
            yield f"http://{HOST}:{port}"


def _provider_answers(port: int) -> bool:
    address = f"http://{HOST}:{port}/.well-known/openid-configuration"
    with suppress(OSError), urllib.request.urlopen(address, timeout=1) as answer:
        return bool(answer.status == 200)
    return False


@contextmanager
def nginx(target: str) -> Iterator[str]:
    """An nginx in front of the server at `target`; yields its address."""
    program = shutil.which("nginx")
    if program is None:
        raise MissingProgram("nginx is not installed: `apt-get install nginx-light`")
    with _folder() as folder:

        def command(port: int) -> list[str]:
            file = folder / "nginx.conf"
            temporary = "".join(
                f"{kind}_temp_path {folder}/{kind};"
                for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
            file.write_text(
                f"daemon off; pid {folder}/nginx.pid; error_log stderr error; events {{ worker_connections 4096; }}"
                f"http {{ access_log off; {temporary} server {{ listen {HOST}:{port}; location / {{"
                f"proxy_pass {target}; proxy_http_version 1.1; proxy_set_header Connection ''; }} }} }}"
            )
            return [program, "-c", str(file), "-p", str(folder)]

        with _started(command, folder, _http_answers) as port:
            yield f"http://{HOST}:{port}"


@contextmanager
def caddy(target: str) -> Iterator[str]:
    """A Caddy in front of the server at `target`; yields its address."""
    program = shutil.which("caddy")
    if program is None:
        raise MissingProgram("caddy is not installed: `apt-get install caddy`")
    with _folder() as folder:

        def command(port: int) -> list[str]:
            file = folder / "Caddyfile"
            file.write_text(
                f"{{\n admin off\n auto_https off\n}}\nhttp://{HOST}:{port} {{\n reverse_proxy {target}\n}}\n"
            )
            return [program, "run", "--config", str(file), "--adapter", "caddyfile"]

        environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        with _started(command, folder, _http_answers, environment=environment) as port:
            yield f"http://{HOST}:{port}"


@contextmanager
def _started(
    command: Callable[[int], Sequence[str]],
    folder: Path,
    answers: Callable[[int], bool],
    *,
    user: str | None = None,
    environment: dict[str, str] | None = None,
    stop_signal: int = signal.SIGTERM,
) -> Iterator[int]:
    process, port = _start(command, folder, answers, user, environment)
    try:
        yield port
    finally:
        process.send_signal(stop_signal)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _start(
    command: Callable[[int], Sequence[str]],
    folder: Path,
    answers: Callable[[int], bool],
    user: str | None,
    environment: dict[str, str] | None,
) -> tuple[subprocess.Popen[bytes], int]:
    output = folder / "output.log"
    for _ in range(ATTEMPTS):  # another program may take the port before the server does
        port = free_port()
        with output.open("wb") as log:
            process = subprocess.Popen(
                command(port),
                cwd=folder,
                user=user,
                env=environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        if _comes_up(process, lambda port=port: answers(port)):
            return process, port
        process.kill()
        process.wait()
    raise ServerFailed(f"{command(0)[0]} did not start: {output.read_text(errors='replace')[-2000:]}")


def _comes_up(process: subprocess.Popen[bytes], answers: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        if answers():
            # The answer may come from a program that took the port first: ours must still be there.
            return process.poll() is None
        time.sleep(0.02)
    return False


def _postgresql_answers(port: int) -> bool:
    import psycopg

    try:
        psycopg.connect(f"postgresql://docent@{HOST}:{port}/postgres", connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _redis_answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=5) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
    return False


def _http_answers(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://{HOST}:{port}/healthz", timeout=5) as reply:
        return int(reply.status) == 200
    return False


def _chroma_answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/api/v2/heartbeat", timeout=5) as reply:
            return int(reply.status) == 200
    except (urllib.error.URLError, OSError):
        return False


def _postgresql_program(name: str) -> str:
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*"), key=lambda folder: folder.name.zfill(3), reverse=True
    )
    found = shutil.which(name) or next(
        (p for v in versions if (p := shutil.which(str(v / "bin" / name)))), None
    )
    if found is None:
        raise MissingProgram(f"{name} of PostgreSQL is not installed: `apt-get install postgresql`")
    return found


def _unprivileged_user() -> str | None:
    """None means to stay who we are; PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise MissingProgram("PostgreSQL does not run as root: `useradd --system postgres`")


@contextmanager
def _folder(owner: str | None = None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="docent-test-") as name:
        if owner is not None:
            shutil.chown(name, owner)
        yield Path(name)
