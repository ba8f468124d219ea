"""The first steps with a site, from its address to a chat that visitors use: which of them are done, and what
comes next. Each can be left and taken up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flask import g, url_for

from admin.texts import lazy
from admin.visible import sees_all, visible_sites
from server.api.access import configuration, shared, stores
from server.domain.contact import ContactOptions
from server.domain.roles import Role
from server.domain.site import DOCS_ID, Site

MARKS = "first_steps"
"""The key of `Site.options` for the names of the steps that somebody finished. Sites without it were added in
another way, and nobody is led through them."""
DISMISSED = "dismissed"
"""Among the marks: the checklist is not shown any more."""
ADDRESS, CRAWL, QUESTIONS, LOOK, EMBED = "address", "crawl", "questions", "look", "embed"
MESSAGES, MODEL = "messages", "model"
_STEPS = (
    (ADDRESS, "site_address", lazy("Address")),
    (CRAWL, "start_crawl", lazy("Crawl")),
    (QUESTIONS, "start_questions", lazy("Try it")),
    (LOOK, "start_look", lazy("Look")),
    (EMBED, "embed_check", lazy("Add to your site")),
    (MESSAGES, "start_messages", lazy("Messages")),
    (MODEL, "start_model", lazy("Model (optional)")),
)
"""Name, endpoint and label of each step, in their order."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step as a list shows it."""

    name: str
    label: str
    address: str
    is_done: bool
    is_here: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """The steps of one site, or of none yet."""

    site: Site | None
    steps: Sequence[Step]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def is_done(self) -> bool:
        return self.done == len(self.steps)

    @property
    def next(self) -> Step | None:
        """The first step after the one that is shown that is not done yet, else the first of all of them."""
        here = next((place for place, step in enumerate(self.steps) if step.is_here), -1)
        ordered = (*self.steps[here + 1 :], *self.steps[: max(here, 0)])
        return next((step for step in ordered if step.address and not step.is_done), None)


def walk_of(site: Site, here: str = "") -> Walk | None:
    """The steps of a site while somebody is led through them, with the one that the page is about."""
    if MARKS not in site.options or DISMISSED in _marks(site) or not g.operator.role.may(Role.EDITOR):
        return None
    return Walk(
        site,
        _steps(here, _done(site), lambda _, endpoint: url_for(f"admin.{endpoint}", site_id=site.id)),
    )


def checklist() -> Walk | None:
    """What is still to do, for the overview: of the newest site; without a site of the operator's own, its
    address."""
    sites = visible_sites()
    own = [site for site in sites if site.id != DOCS_ID]
    if own:
        walks = (walk_of(site) for site in reversed(own))
        return next((walk for walk in walks if walk is not None and not walk.is_done), None)
    may_add = g.operator.role.may(Role.EDITOR) and sees_all()
    if not may_add or any(DISMISSED in _marks(site) for site in sites):
        return None
    return no_site()


def no_site(here: str = "") -> Walk:
    """The steps before there is a site: its address comes first, and the others need it."""
    first = url_for("admin.site_new")
    return Walk(None, _steps(here, frozenset(), lambda name, _: first if name == ADDRESS else ""))


def _steps(here: str, done: frozenset[str], address_of: Callable[[str, str], str]) -> list[Step]:
    """The steps that this operator may take; `address_of` takes name and endpoint."""
    return [
        Step(name, label, address_of(name, endpoint), name in done, name == here)
        for name, endpoint, label in _STEPS
        if name != MODEL or g.operator.role.may(Role.OWNER)
    ]


def mark(site_id: str, *names: str) -> None:
    """Note that these steps of a site are done, if somebody is led through them."""
    site = stores().sites.get(site_id)
    if (MARKS in site.options or DISMISSED in names) and not set(names) <= _marks(site):
        stores().sites.change(site_id, lambda site: _marked(site, names))


def begin() -> None:
    """Lead through the sites that were there before the first person."""
    for site in stores().sites.all():
        if site.id != DOCS_ID:
            stores().sites.change(site.id, lambda now: _marked(now, ()))


def _marked(site: Site, names: Sequence[str]) -> Site:
    marks = sorted(_marks(site).union(names))
    return replace(site, options={**site.options, MARKS: marks})


def _marks(site: Site) -> frozenset[str]:
    listed = site.options.get(MARKS)
    return frozenset(map(str, listed)) if isinstance(listed, list | tuple) else frozenset()


def _done(site: Site) -> frozenset[str]:
    """What was marked, and what can be seen."""
    contact = ContactOptions.of(site.options)
    seen = {
        ADDRESS: bool(site.start_urls),
        CRAWL: bool(site.generation),
        LOOK: bool(site.options.get("look")),
        EMBED: bool(shared().sightings.of(site)),
        MESSAGES: bool(contact.email or contact.webhook or contact.link),
        MODEL: configuration().settings.models.uses_chat_model,
    }
    return _marks(site).union(name for name, is_done in seen.items() if is_done)
