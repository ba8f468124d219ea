"""What `run` does beside serving: the first site, its crawl's progress, and the addresses."""

from __future__ import annotations

import time
import urllib.error
import urllib.request

from server.commands.supervisor import Supervisor
from server.errors import DocentError
from server.services import Services
from server.settings import Settings
from server.site_setup import docs_site, site_from_address


def onboard(settings: Settings, supervisor: Supervisor) -> None:
    """Waits until the web workers answer, adds the first site, shows its crawl and prints the addresses."""
    started = time.monotonic()
    if not _answers(settings, supervisor):
        return
    try:
        services = Services(settings)
        site_id, is_new = _first_site(settings, services)
        _print_addresses(settings, services, site_id, time.monotonic() - started)
        if is_new:
            _follow_crawl(services, site_id, supervisor)
        services.close()
    except DocentError as error:
        print(f"docent: {error}", flush=True)


def _answers(settings: Settings, supervisor: Supervisor) -> bool:
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "") else settings.host
    while not supervisor.wait(0.1):
        try:
            with urllib.request.urlopen(f"http://{host}:{settings.port}/healthz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            continue
    return False


def _first_site(settings: Settings, services: Services) -> tuple[str, bool]:
    """(id of the site to show, whether it was just added)."""
    wanted = site_from_address(settings.site, settings) if settings.site else docs_site(settings)
    known = services.sites.find(wanted.id)
    if known is None and (settings.site or not services.sites.all()):
        services.sites.create(wanted)
        services.start_crawl(wanted.id)
        return wanted.id, True
    shown = known or services.sites.all()[0]
    if services.content(shown.id).live_generation() == 0 and services.crawls.latest(shown.id) is None:
        services.start_crawl(shown.id)
        return shown.id, True
    return shown.id, False


def _print_addresses(settings: Settings, services: Services, site_id: str, seconds: float) -> None:
    base = settings.base_url
    lines = [
        f"Docent is up after {seconds:.1f} s.",
        f"  Widget     {base}/demo/{site_id}",
        f"  Dashboard  {base}/admin/",
        f"  API        {base}/api/openapi.json",
    ]
    if services.operators.count() == 0:
        token = services.operators.setup_token()
        lines[2] = f"  Dashboard  {base}/admin/setup?token={token}"
        lines.append("  The dashboard link works once: it makes the first operator's account.")
    print("\n" + "\n".join(lines) + "\n  Ctrl-C stops everything.\n", flush=True)


def _follow_crawl(services: Services, site_id: str, supervisor: Supervisor) -> None:
    shown = ""
    while not supervisor.wait(0.5):
        crawl = services.crawls.latest(site_id)
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
