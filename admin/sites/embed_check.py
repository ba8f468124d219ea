"""Is the widget on the site's pages, can it work there, and does it answer? Asked the way browsers ask."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urljoin, urlsplit

from flask import render_template, request
from flask.typing import ResponseReturnValue
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError
from urllib3.util import Timeout
from wtforms import StringField
from wtforms.validators import DataRequired

from admin.formats import number
from admin.forms import UNPROCESSABLE, Form, check_address
from admin.page import Page
from admin.replies import unchanged
from admin.sites import site as site_page
from admin.sites.sites import snippet_of
from admin.start import walk as walks
from admin.texts import _, lazy
from crawler.errors import BadStart, CrawlError
from crawler.extractors.html.extractor import parse
from crawler.extractors.text import decode
from crawler.fetching.connections import Deadlines, guarded_pools
from crawler.fetching.fetcher import Fetcher, HttpResponse
from server.answering.shortcuts.small_talk import offered
from server.api.access import configuration, shared, stores
from server.domain.addresses import origin_of
from server.domain.site import Site
from server.guards.network import outgoing
from server.jobs.crawl_options import crawl_options
from server.runtime.stores import Sightings
from server.settings import Settings

MOST_BYTES = 2_000_000
"""Of a page that are looked at."""
LOADER = "/widget/embed.js"
NEEDED = ("script-src", "connect-src")
"""Directives of a Content-Security-Policy that must allow the widget's server."""


@dataclass(slots=True)
class PageTags:
    """What a page says about the widget."""

    loaders: list[tuple[str, str]] = field(default_factory=list)
    """(address of the loader, site that it names) of each tag."""
    elements: list[str] = field(default_factory=list)
    """The site that each widget element in the page names; empty where it names no site."""
    policies: list[str] = field(default_factory=list)
    """In meta elements."""


def tags_of(html: str, base: str) -> PageTags:
    """Find the widget's tags in HTML, however broken; `base` is the page's address."""
    found = PageTags()
    for element in parse(html).iter("base", "script", "site-chat", "meta"):
        if element.tag == "base":
            base = _whole(base, element.get("href", "")) or base
        elif element.tag == "script":
            address = _whole(base, element.get("src", ""))
            if urlsplit(address).path.endswith(LOADER):
                found.loaders.append((address, element.get("data-site", "")))
        elif element.tag == "site-chat":
            found.elements.append(element.get("site", ""))
        elif element.get("http-equiv", "").lower() == "content-security-policy":
            found.policies.append(element.get("content", ""))
    return found


def _whole(base: str, address: str) -> str:
    """Return the absolute address that a page links; empty when it is not an address."""
    try:
        return urljoin(base, address.strip()) if address.strip() else ""
    except ValueError:
        return ""


def hindrance(policy: str, server: str) -> str:
    """The first directive of a Content-Security-Policy that keeps the widget of `server`, an origin, from
    working; empty when it may work."""
    rules = {parts[0].lower(): parts[1:] for rule in policy.split(";") if (parts := rule.split())}
    for name in NEEDED:
        sources = rules.get(name, rules.get("default-src"))
        if sources is not None and not any(_fits(source, server) for source in sources):
            return name if name in rules else "default-src"
    return ""


def _fits(source: str, server: str) -> bool:
    own, source = urlsplit(server), source.lower()
    if source in ("*", f"{own.scheme}:", server, own.netloc):
        return True
    try:
        given = urlsplit(source if "://" in source else f"//{source}")
    except ValueError:  # no browser would know it either
        return False
    if given.scheme and given.scheme != own.scheme:
        return False
    if (given.netloc or "") == own.netloc:
        return True
    return given.netloc.startswith("*.") and own.netloc.endswith(given.netloc[1:])


SECONDS = 20.0
QUESTION_CHARS = 200


class Mark(StrEnum):
    """How a step went."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the check."""

    name: str
    mark: Mark
    text: str
    """What was found, and what to do about it."""


def check_embedding(site: Site, url: str, settings: Settings, sightings: Sightings) -> Iterator[Step]:
    """The page first, then what visitors on it would get. Nothing of it is kept. Raises BadStart for an
    address that is none, or may not be fetched."""
    yield from _page_steps(site, url, settings)
    yield from _Caller(site, origin_of(url), settings, sightings).steps()


def _page_steps(site: Site, url: str, settings: Settings) -> Iterator[Step]:
    options = crawl_options(site, settings)
    if origin_of(url) not in map(origin_of, options.start_urls):
        # The page need not be where the crawl begins, but the headers for the crawl stay there.
        options = options.with_changes(start_urls=(url,), headers=())
    fetcher = Fetcher(options)
    try:
        reply = fetcher.get_following(url)
    except BadStart:
        raise
    except CrawlError as error:
        yield Step("page", Mark.BAD, _("The page could not be opened: %(reason)s.", reason=error))
        return
    finally:
        fetcher.close()
    if reply.status != 200:
        said = _("The page answered with status %(status)s. Check another page.", status=reply.status)
        yield Step("page", Mark.BAD, said)
        return
    yield Step("page", Mark.GOOD, _("The page was opened, %(count)s bytes.", count=number(len(reply.body))))
    tags = tags_of(decode(reply.body[:MOST_BYTES], reply.charset), url)
    yield _tag_step(site, tags, settings.serving.base_url)
    yield from _policy_steps(reply, tags, origin_of(settings.serving.base_url))


def _tag_step(site: Site, tags: PageTags, base: str) -> Step:
    ours = [(address, named) for address, named in tags.loaders if address.split("?")[0] == f"{base}{LOADER}"]
    if not tags.loaders:
        said = _(
            "The page does not contain the tag. Paste it before </body>, and check that the page was "
            "published. If a script or a tag manager adds the tag, this check cannot see it: look below "
            "where visitors used the chat."
        )
        return Step("tag", Mark.WARN, said)
    if not ours:
        said = _(
            "The tag loads the widget from %(found)s, but this server is %(base)s. Copy the tag again, "
            "or set PUBLIC_URL to the address that visitors use.",
            found=tags.loaders[0][0],
            base=base,
        )
        return Step("tag", Mark.BAD, said)
    named = [name for _, name in ours if name] + tags.elements
    if site.id not in named:
        found = _("The tag names the site %(name)s.", name=named[0]) if named else _("The tag names no site.")
        return Step("tag", Mark.BAD, f"{found} " + _('It needs data-site="%(id)s".', id=site.id))
    if len(ours) > 1:
        return Step("tag", Mark.WARN, _("The tag is there more than once. One is enough."))
    return Step("tag", Mark.GOOD, _("The tag is there and names %(name)s.", name=site.id))


def _policy_steps(reply: HttpResponse, tags: PageTags, server: str) -> Iterator[Step]:
    sent = reply.headers.get("content-security-policy", "")
    policies = [policy for line in [sent, *tags.policies] for policy in line.split(",") if policy.strip()]
    kept_off = next(filter(None, (hindrance(policy, server) for policy in policies)), "")
    if kept_off:
        names = {"server": server, "directive": kept_off}
        said = _("The page's Content-Security-Policy blocks %(server)s. Add it to %(directive)s.", **names)
        yield Step("policy", Mark.BAD, said)
    elif policies:
        yield Step("policy", Mark.GOOD, _("The page's Content-Security-Policy allows the widget."))


class _Caller:
    """What the widget's own requests get, from a page of this origin."""

    def __init__(self, site: Site, origin: str, settings: Settings, sightings: Sightings) -> None:
        self._site = site
        self._sightings = sightings
        self._origin = origin
        self._base = settings.serving.base_url
        self._deadlines = Deadlines()
        # It is this server: its own host and port may well be private.
        guard = outgoing(settings, self._base)
        self._pools: PoolManager = guarded_pools(guard, self._deadlines, num_pools=1)

    def steps(self) -> Iterator[Step]:
        try:
            with self._deadlines.within(SECONDS):
                yield from self._answered()
        except (HTTPError, CrawlError, OSError, ValueError) as error:
            reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            names = {"base": self._base, "reason": reason}
            said = _("%(base)s does not answer (%(reason)s). Check PUBLIC_URL.", **names)
            yield Step("server", Mark.BAD, said)
        finally:
            self._pools.clear()

    def _answered(self) -> Iterator[Step]:
        address = f"{self._base}{LOADER}"
        loader = self._pools.request("GET", address, retries=False, timeout=Timeout(SECONDS))
        if loader.status != 200:
            text = _("%(address)s answers with status %(status)s.", address=address, status=loader.status)
            yield Step("server", Mark.BAD, text)
            return
        yield Step("server", Mark.GOOD, _("The widget loads from %(base)s.", base=self._base))
        self._sightings.skip(self._site.id, self._origin)
        status, said = self._call("POST", "/api/v1/visitors", {"site": self._site.id, "consent": True})
        if status == 428:
            yield Step("visitor", Mark.WARN, _("New visitors need a proof of work, so the check stops here."))
            return
        if status != 200:
            yield Step("visitor", Mark.BAD, _error(said, status))
            return
        yield Step("visitor", Mark.GOOD, _("Visitors on %(origin)s may use the chat.", origin=self._origin))
        token = str(said.get("token", ""))
        try:
            yield self._asked(token)
        finally:
            self._call("DELETE", "/api/v1/visitors/me", None, token)

    def _asked(self, token: str) -> Step:
        question = (offered(self._site) or (self._site.name,))[0][:QUESTION_CHARS]
        status, said = self._call("POST", "/api/v1/chat", {"message": question}, token)
        if status != 200:
            return Step("answer", Mark.BAD, _error(said, status))
        if str(said.get("outcome", "")) in ("answered", "curated", "clarify"):
            return Step("answer", Mark.GOOD, _("“%(question)s” was answered.", question=question))
        return Step(
            "answer", Mark.WARN, _("“%(question)s” was asked, and the site has no answer.", question=question)
        )

    def _call(self, method: str, path: str, body: object, token: str = "") -> tuple[int, dict[str, Any]]:
        headers = {"Origin": self._origin, "Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        answer = self._pools.request(
            method, f"{self._base}{path}", body=None if body is None else json.dumps(body), headers=headers,
            retries=False, timeout=Timeout(SECONDS),
        )  # fmt: skip
        said = json.loads(answer.data or b"{}")
        return answer.status, said if isinstance(said, dict) else {}


def _error(said: dict[str, Any], status: int) -> str:
    error = said.get("error")
    message = str(error.get("message", "")) if isinstance(error, dict) else ""
    return message or _("The server answered with status %(status)s.", status=status)


page = Page(under=site_page.page, help="dashboard#how-do-i-check-that-the-chat-is-installed")


class PageForm(Form):
    """A page that has, or should have, the widget."""

    address = StringField(
        lazy("Page"), [DataRequired(lazy("Write the address of a page that has the chat.")), check_address]
    )


@page.get("/sites/<site_id>/embed-check")
def embed_check(site: Site) -> ResponseReturnValue:
    start = site.start_urls[0] if site.start_urls else ""
    return _shown(site, PageForm(formdata=None, address=start))


@page.post("/sites/<site_id>/embed-check")
def embed_check_run(site: Site) -> ResponseReturnValue:
    """Opens the page and asks as its visitors would; takes as long as that takes."""
    unchanged()
    form = PageForm(request.form)
    if not form.validate():
        return _shown(site, form), UNPROCESSABLE
    settings = configuration().settings
    try:
        steps = list(check_embedding(site, form.address.data, settings, shared().sightings))
    except BadStart as error:
        form.address.errors = [str(error)]
        return _shown(site, form), UNPROCESSABLE
    if {step.name: step.mark for step in steps}.get("tag") is Mark.GOOD and steps[-1].mark is not Mark.BAD:
        walks.mark(site.id, walks.EMBED)
    return _shown(stores().sites.get(site.id), form, steps)


def _shown(site: Site, form: PageForm, steps: Sequence[Step] = ()) -> str:
    return render_template(
        "admin/embed_check.html",
        form=form,
        steps_found=steps,
        snippet=snippet_of(site),
        seen=shared().sightings.of(site),
        walk=walks.walk_of(site, walks.EMBED),
    )
