"""`python -m server.commands.onboarding`: the first site of a server that is starting.

A process of its own, which ends when there is nothing more to show: what it imports is not kept in memory
for as long as the server runs.
"""

from __future__ import annotations

import os
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from typing import TYPE_CHECKING

from server.errors import DocentError
from server.logs import json_line
from server.settings import Settings
from server.settings.reading import load_settings

if TYPE_CHECKING:
    from server.runtime.runtime import Runtime


def onboard(settings: Settings) -> None:
    """Waits until the web workers answer, adds the first site, shows its crawl and prints the addresses."""
    started = time.monotonic()
    _wait_until_it_answers(settings)
    # Not before: importing it takes as much of the processor as the server itself needs to start.
    from server.runtime.runtime import open_runtime

    try:
        runtime = open_runtime(settings)
        site_id, is_new = _first_site(runtime.settings, runtime)
        _print_addresses(settings, runtime, site_id, time.monotonic() - started)
        if is_new:
            _follow_crawl(runtime, site_id)
        runtime.close()
    except DocentError as error:
        _say(settings, f"docent: {error}")


def _say(settings: Settings, text: str) -> None:
    if settings.serving.log_format == "json":
        text = "\n".join(json_line(line, "docent") for line in text.splitlines() if line)
    print(text, flush=True)


def _wait_until_it_answers(settings: Settings) -> None:
    server = os.getppid()
    while os.getppid() == server:
        time.sleep(0.1)
        try:
            with urllib.request.urlopen(f"{settings.serving.local_url}/healthz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            continue


def _first_site(settings: Settings, runtime: Runtime) -> tuple[str, bool]:
    """(id of the site to show, whether it was just added). The id is empty if the site of SITE was removed
    and there is no other."""
    from server.jobs.site_profile import docs_site, site_from_address

    wanted = (
        site_from_address(settings.serving.site, settings) if settings.serving.site else docs_site(settings)
    )
    stores, address = runtime.stores.sites, wanted.start_urls[0]
    known, others = stores.find(wanted.id), stores.all()
    is_new = known is None and (not stores.was_added(address) if settings.serving.site else not others)
    if is_new:
        stores.create(wanted)
    if settings.serving.site and (known or is_new):
        stores.note_added(address)
    if is_new:
        runtime.crawling.start(wanted.id)
        return wanted.id, True
    if known is None and not others:
        return "", False
    shown = known or others[0]
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
        f"  Dashboard  {base}/admin/",
        f"  API        {base}/api/openapi.json",
    ]
    if runtime.people.operators.count() == 0:
        link = f"{base}/admin/setup#token={runtime.people.operators.setup_token()}"
        lines[1] = f"  Dashboard  {base}/admin/setup"
        # What is printed may end in a journal that others read.
        if sys.stdout.isatty():
            lines[1] = f"  Dashboard  {link}"
            lines.append("  The dashboard link works once: it makes the first operator's account.")
        else:
            folder = runtime.configuration.folder
            folder.keep_setup_link(link)
            lines.append(f"  The link that makes the first operator's account is in {folder.setup_link}")
    if site_id:
        lines.insert(1, f"  Widget     {base}/demo/{site_id}")
    _say(settings, "\n" + "\n".join(lines) + "\n  Ctrl-C stops everything.\n")


def _follow_crawl(runtime: Runtime, site_id: str) -> None:
    shown = ""
    server = os.getppid()
    while os.getppid() == server:
        time.sleep(0.5)
        crawl = runtime.stores.crawls.latest(site_id)
        if crawl is None:
            return
        line = (
            f"Crawling {site_id}: {crawl.found} pages found, {crawl.fetched} fetched, {crawl.indexed} indexed"
        )
        if line != shown:
            _say(runtime.settings, line)
            shown = line
        if crawl.state == "done":
            _say(runtime.settings, f"{site_id} is ready: ask it something.")
            return
        if crawl.state in ("failed", "stopped"):
            _say(runtime.settings, f"The crawl of {site_id} {crawl.state}: {crawl.message}")
            return


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        onboard(load_settings({}))
