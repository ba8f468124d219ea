"""`python -m server doctor`: is everything there that this server needs, and what to do if not."""

import argparse
import json
import os
import shutil
import socket
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from crawler.content import Renderer
from crawler.errors import FetchError
from crawler.fetching.fetcher import Fetcher
from crawler.options import CrawlOptions
from server.contact.channel import NotDelivered
from server.contact.mail import MailServer
from server.domain.addresses import without_user
from server.domain.contact import ContactOptions
from server.domain.protocols import Prompt
from server.errors import DocentError
from server.guards.network import for_mail, for_webhooks
from server.jobs.crawl_options import limits
from server.runtime.checks import Failed, check_cache, check_clock, check_webhooks, targets
from server.runtime.configuration import open_configuration
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.data_folder import DataFolder, lacking_space

HELP = "check dependencies, settings, folders, ports, databases and models; say what to do about each failure"

SILENCE_S = 60.0
"""A worker gives a sign of life every five seconds."""

Check = tuple[str, Callable[[], str]]
"""What is checked, and a function that returns what was found or raises with what to do."""


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
    yield "clock", lambda: check_clock(runtime)
    yield "history", lambda: check_cache(runtime)
    yield "vectors", lambda: _vectors(runtime, settings)
    yield "embeddings", lambda: _embeddings(runtime)
    yield "chat model", lambda: _chat_model(runtime)
    yield "reranker", lambda: _reranker(runtime)
    yield "browser", lambda: _browser(settings)
    yield "worker", lambda: _worker(runtime, settings)
    yield "mail", lambda: _mail(runtime)
    yield "webhooks", lambda: _webhooks(runtime)
    yield "metrics", lambda: _metrics(runtime)
    yield "traces", lambda: _traces(settings)
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
    port = settings.serving.port
    try:
        socket.create_connection((settings.serving.local_host, port), timeout=1).close()
    except OSError:
        return f"{port} is free"
    if DataFolder(settings.storage.data_dir).running_chroma():
        return f"{port} is in use by the server that runs on this folder"
    if settings.storage.chroma_url and _docent_answers(f"{settings.serving.local_url}/healthz"):
        return f"{port} is in use by this replica's web server"
    raise Failed(f"{port} is in use by another program; stop it or set another PORT")


def _docent_answers(address: str) -> bool:
    with suppress(OSError, ValueError), urllib.request.urlopen(address, timeout=2) as answer:
        return bool(json.load(answer) == {"status": "ok"})
    return False


def _database(runtime: Runtime) -> str:
    runtime.database.ping()
    return f"{runtime.database.dialect} answers, schema is up to date"


def _vectors(runtime: Runtime, settings: Settings) -> str:
    runtime.engine.vector_store.chroma.ping()
    return (
        f"Chroma answers at {without_user(settings.storage.chroma_url)}"
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


def _reranker(runtime: Runtime) -> str:
    model = runtime.engine.relevance_model
    if model is None:
        return "none: RERANK_URL is not set"
    model.relevance("ready", ["Are you ready?"])
    return f"{model.name} answers"


def _browser(settings: Settings) -> str:
    if settings.crawling.render == "never":
        return "none is needed: CRAWL_RENDER is never"
    options = CrawlOptions(start_urls=("https://example.com/",), **limits(settings))
    renderer = Renderer(options, Fetcher(options))
    try:
        missing = renderer.missing
    finally:
        renderer.close()
    if missing and settings.crawling.render == "always":
        raise Failed(f"CRAWL_RENDER is always, but {missing}")
    return f"none, so pages are read without their scripts ({missing})" if missing else "is there"


def _worker(runtime: Runtime, settings: Settings) -> str:
    last = runtime.shared.heartbeat.last()
    silent = (datetime.now(UTC) - last).total_seconds() if last else float("inf")
    if silent < SILENCE_S:
        return "was seen just now"
    runs = settings.storage.redis_url or DataFolder(settings.storage.data_dir).running_chroma()
    if runs:
        seen = f"was seen {silent:.0f} s ago" if last else "was never seen"
        raise Failed(f"{seen}; start it with `make run`, or `python -m server worker` on its own")
    waiting = len(runtime.crawling.jobs)
    return f"does not run; neither does the server{f'; waiting jobs: {waiting}' if waiting else ''}"


def _webhooks(runtime: Runtime) -> str:
    guard = for_webhooks(runtime.settings)
    urls = list(targets(runtime))
    for url in urls:
        try:
            guard.check(url)
        except FetchError as error:
            host = urlsplit(url).hostname
            raise Failed(f"{host} is not reached: {error}; correct it, or PRIVATE_HOSTS") from None
    check_webhooks(runtime)
    return f"{len(urls)} addresses are known and allowed" if urls else "none"


def _metrics(runtime: Runtime) -> str:
    serving, folder = runtime.settings.serving, runtime.configuration.folder.metrics
    if not serving.has_metrics:
        return "off: neither METRICS_PORT nor METRICS_TOKEN is set"
    folder.mkdir(mode=0o700, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise Failed(f"{folder} cannot be written to; correct its permissions")
    return f"served at {serving.metrics_host}:{serving.metrics_port}" if serving.metrics_port else "served"


def _traces(settings: Settings) -> str:
    endpoint = settings.serving.otlp_endpoint
    if not endpoint:
        return "off: OTEL_EXPORTER_OTLP_ENDPOINT is not set"
    address, shown = urlsplit(endpoint), without_user(endpoint)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection((address.hostname or "", port), timeout=5).close()
    except OSError as error:
        message = f"{shown} does not answer ({error}); start the collector or correct the address"
        raise Failed(f"{message} in OTEL_EXPORTER_OTLP_ENDPOINT") from None
    return f"{shown} answers"


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
