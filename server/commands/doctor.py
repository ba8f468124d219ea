"""`python -m server doctor`: is everything there that this server needs, and what to do if not."""

import argparse
import json
import shutil
import socket
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from server.contact.channel import NotDelivered
from server.contact.mail import MailServer
from server.domain.contact import ContactOptions
from server.domain.protocols import Prompt
from server.errors import DocentError
from server.guards.network import for_mail
from server.runtime.configuration import open_configuration
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.data_folder import DataFolder, lacking_space

HELP = "check dependencies, settings, folders, ports, databases and models; say what to do about each failure"

Check = tuple[str, Callable[[], str]]
"""What is checked, and a function that returns what was found or raises with what to do."""


class Failed(Exception):
    """A check that did not pass; the message says what to do."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints a line for each check; 1 when any failed."""
    failures = 0
    for name, check in _checks(settings):
        try:
            found, mark = check(), "ok  "
        except (Failed, *DocentError) as error:
            found, mark = str(error), "FAIL"
            failures += 1
        print(f"{mark}  {name:<12} {found}", flush=True)
    print("Everything is in order." if not failures else f"{failures} of the checks failed.")
    return 1 if failures else 0


def _checks(settings: Settings) -> Iterator[Check]:
    yield "python", _python
    yield "packages", _packages
    yield "settings", lambda: _settings(settings)
    yield "folder", lambda: _folder(settings)
    yield "port", lambda: _port(settings)
    try:
        runtime = open_runtime(settings)
    except DocentError as error:
        message = str(error)
        yield "database", lambda: _fail(message)
        return
    yield "database", lambda: _database(runtime)
    yield "history", lambda: _history(runtime, settings)
    yield "vectors", lambda: _vectors(runtime, settings)
    yield "embeddings", lambda: _embeddings(runtime)
    yield "chat model", lambda: _chat_model(runtime)
    yield "mail", lambda: _mail(runtime)
    yield "sites", lambda: _sites(runtime)
    runtime.close()


def _fail(message: str) -> str:
    raise Failed(message)


def _python() -> str:
    return sys.version.split()[0]  # an older one than 3.11 could not have read this file


def _packages() -> str:
    wanted = Path(__file__).parents[2] / "requirements.txt"
    lines = [line.strip() for line in wanted.read_text().splitlines() if "==" in line]
    wrong = []
    for line in lines:
        requirement, _, only_for = line.partition(";")
        name, _, pinned = requirement.strip().partition("==")
        try:
            found = version(name.split("[")[0])
        except PackageNotFoundError:
            if only_for:
                continue  # not needed on every kind of computer, so not here
            found = "missing"
        if found != pinned:
            wrong.append(f"{name} {found} instead of {pinned}")
    if wrong:
        raise Failed(f"{'; '.join(wrong[:3])}: `pip install --require-hashes -r requirements.lock`")
    return f"{len(lines)} pinned packages are installed"


def _settings(settings: Settings) -> str:
    configuration, database = open_configuration(settings)
    changed, problems = configuration.live.overrides, configuration.live.problems
    database.close()
    if problems:
        name, problem = next(iter(problems.items()))
        raise Failed(f"{name.upper()} of the dashboard does not hold: {problem}; set it again under Settings")
    names = f"; the dashboard changed {', '.join(map(str.upper, changed))}" if changed else ""
    return f"read; the server's address is {settings.serving.base_url}{names}"


def _folder(settings: Settings) -> str:
    folder = DataFolder(settings.storage.data_dir)
    if says := lacking_space(folder.path, settings.storage.disk_free_mb):
        raise Failed(says)
    free = shutil.disk_usage(folder.path).free
    return f"{folder.path} can be written to, {free // 1_000_000_000} GB free"


def _port(settings: Settings) -> str:
    host = "127.0.0.1" if settings.serving.host in ("0.0.0.0", "::", "") else settings.serving.host
    try:
        socket.create_connection((host, settings.serving.port), timeout=1).close()
    except OSError:
        return f"{settings.serving.port} is free"
    if DataFolder(settings.storage.data_dir).running_chroma():
        return f"{settings.serving.port} is in use by the server that runs on this folder"
    if settings.storage.chroma_url and _docent_answers(f"http://{host}:{settings.serving.port}/healthz"):
        return f"{settings.serving.port} is in use by this replica's web server"
    raise Failed(f"{settings.serving.port} is in use by another program; stop it or set another PORT")


def _docent_answers(address: str) -> bool:
    with suppress(OSError, ValueError), urllib.request.urlopen(address, timeout=2) as answer:
        return bool(json.load(answer) == {"status": "ok"})
    return False


def _database(runtime: Runtime) -> str:
    runtime.database.ping()
    return f"{runtime.database.dialect} answers, schema is up to date"


def _history(runtime: Runtime, settings: Settings) -> str:
    runtime.shared.cache.set("doctor", "ok", 60)
    if runtime.shared.cache.get("doctor") != "ok":
        raise Failed("a value that was stored did not come back; check REDIS_URL or the disk of DATA_DIR")
    return "Redis answers" if settings.storage.redis_url else "kept in DATA_DIR/cache"


def _vectors(runtime: Runtime, settings: Settings) -> str:
    runtime.engine.vector_store.ping()
    return (
        f"Chroma answers at {settings.storage.chroma_url}"
        if settings.storage.chroma_url
        else "Chroma answers"
    )


def _embeddings(runtime: Runtime) -> str:
    vector = runtime.engine.document_embedder.embed(["A short text."])[0]
    return f"{runtime.engine.document_embedder.name}, {len(vector)} dimensions"


def _chat_model(runtime: Runtime) -> str:
    model = runtime.engine.chat_model
    if model is None:
        return "none: answers are quoted (OPENAI_API_KEY, or OPENAI_BASE_URL and CHAT_MODEL, set one)"
    reply = model.complete(Prompt("Reply with the word ready.", "Are you ready?", max_tokens=20))
    return f"{model.name} answers: {' '.join(reply.split())[:40]!r}"


def _mail(runtime: Runtime) -> str:
    settings = runtime.configuration.settings
    if settings.contact.smtp_url:
        try:
            return MailServer(
                settings.contact.smtp_url, settings.contact.timeout_s, for_mail(settings)
            ).check()
        except NotDelivered as error:
            raise Failed(f"{error}; check SMTP_URL") from None
    wanting = [site.id for site in runtime.stores.sites.all() if ContactOptions.of(site.options).email]
    if wanting:
        raise Failed(f"messages of {', '.join(wanting)} go to an e-mail address: set SMTP_URL and MAIL_FROM")
    return "none, and no site needs one"


def _sites(runtime: Runtime) -> str:
    sites = runtime.stores.sites.all()
    if not sites:
        return "none yet; `make run` or `python -m server crawl URL` adds one"
    live = [site for site in sites if site.generation]
    if not live:
        raise Failed(f"{len(sites)} sites, none indexed; look at the crawl: python -m server sites")
    return f"{len(live)} of {len(sites)} are indexed"
