"""What went wrong while visitors were served, and whether every part works now."""

import platform
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from flask import current_app, render_template
from flask.typing import ResponseReturnValue

from admin.formats import decimal, duration, number, sentence
from admin.lists import chosen_days, chosen_site, one_of
from admin.page import Page
from admin.texts import _, lazy, ngettext
from admin.visible import sees, sees_all, visible_ids, visible_sites
from server.api.access import configuration, crawling, database, delivery, engine, runtime, shared, stores
from server.contact.messages import resting
from server.domain.contact import ContactOptions, DeliveryState
from server.runtime.checks import states
from server.storage import upgrade
from server.version import version

QUOTED = lazy("Visitors got the quoted answer instead.")
NOT_REWRITTEN = lazy("Docent searched for the question as it was asked.")


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of incident is explained."""

    label: str
    advice: str
    # A plain default must have a hash, and a lazy text has none.
    effect: str = field(default_factory=lambda: QUOTED)


KINDS = {
    "unreachable": Kind(
        lazy("Model unreachable"), lazy("Check the address under Settings, Models, and that the server runs.")
    ),
    "timeout": Kind(
        lazy("Model too slow"), lazy("Ask the provider, or allow more time under Settings, Models.")
    ),
    "rate_limited": Kind(
        lazy("Model limit reached"),
        lazy("Raise the provider's limit, or allow fewer calls at once under Settings, Models."),
    ),
    "server_error": Kind(lazy("Model failed"), lazy("The provider has a problem; look at its status page.")),
    "wrong_key": Kind(lazy("API key refused"), lazy("Enter a valid API key under Settings, Models.")),
    "wrong_model": Kind(
        lazy("Unknown model"), lazy("Choose a model that the provider has, under Settings, Models.")
    ),
    "bad_reply": Kind(
        lazy("Unusable model reply"), lazy("If it keeps happening, choose another chat model.")
    ),
    "unsupported_answer": Kind(
        lazy("Answer not on the pages"),
        lazy("The model made it up. If it keeps happening, choose another chat model."),
    ),
    "prompt_leak": Kind(
        lazy("Model revealed its instructions"),
        lazy("Read the conversation: somebody may be trying to misuse the chat."),
        lazy("The visitor did not see any of it."),
    ),
    "visitor_budget": Kind(
        lazy("Budget of one visitor used up"),
        lazy("Raise the budget per visitor under Settings, Limits, if honest visitors ask this much."),
        lazy("This visitor got the quoted answer instead."),
    ),
    "budget_spent": Kind(
        lazy("Model budget used up"), lazy("Raise the budget under Settings, Limits, or wait until tomorrow.")
    ),
    "index_held_back": Kind(
        lazy("New index held back"),
        lazy("Open Quality, look at the questions that got worse, and decide if the new index goes live."),
        lazy("Visitors get answers from the earlier index."),
    ),
    "crawl_failed": Kind(
        lazy("Crawl failed"),
        lazy("Do what the message says, then crawl again."),
        lazy("Visitors get answers from the last complete crawl, if there is one."),
    ),
    "contact_failed": Kind(
        lazy("Message of a visitor not sent"),
        lazy("Do what the message says, then press “Send again” there."),
        lazy("The visitor waits for an answer; the message is kept under Messages."),
    ),
    "reply_failed": Kind(
        lazy("Reply to a visitor not sent"),
        lazy("Do what the message's page says, then press “Send again” there."),
        lazy("The visitor waits for your answer; it is kept with the message."),
    ),
    "webhook_failed": Kind(
        lazy("Event not sent to a webhook"),
        lazy("Do what the message says, then press “Send again” there."),
        lazy("Your other system does not know of it; the event is kept under Settings, Webhooks."),
    ),
}

NOT_OF_MODELS = frozenset(
    {"crawl_failed", "index_held_back", "contact_failed", "reply_failed", "webhook_failed"}
)
MODEL_KINDS = frozenset(KINDS) - NOT_OF_MODELS


def kind_of(name: str, message: str = "") -> Kind:
    """The explanation; for a kind that has none its bare name."""
    kind = KINDS.get(name) or Kind(name.replace("_", " ").capitalize(), "", "")
    # Who cannot rewrite a follow-up may still write the answer.
    return replace(kind, effect=NOT_REWRITTEN) if message.startswith("rewriting") else kind


PARTS = {
    "database": lazy("Database"),
    "models": lazy("Embedding model"),
    "vectors": lazy("Vectors (Chroma)"),
    "index": lazy("Index"),
    "chat": lazy("Chat model"),
    "disk": lazy("Disk"),
    "worker": lazy("Queue worker"),
    "contact": lazy("Messages to people"),
    "cache": lazy("History and limits"),
    "clock": lazy("Clock"),
    "webhooks": lazy("Webhooks"),
    "metrics": lazy("Metrics"),
}

ADVICE = {
    "database": lazy("Check DATABASE_URL, the disk's free space and the rights on DATA_DIR."),
    "models": lazy("Run `python -m server doctor`: it checks every model and says what to do."),
    "vectors": lazy("Check that the Chroma server runs, and CHROMA_URL if you set it."),
    "index": lazy("Add a site, or look at its last crawl."),
}

WORKER = lazy(
    "Start the worker: `make run` does, as does `python -m server worker` where processes run separately."
)
DISK = lazy("Free some space there, or move DATA_DIR: answers stop too when the disk is full.")

PATIENCE = timedelta(seconds=60)
"""A crawl that waits longer while none runs has no worker to take it."""

RECENT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class PartState:
    """One line of the list of parts."""

    name: str
    """A key of PARTS."""
    is_well: bool
    says: str = ""
    advice: str = ""
    since: datetime | None = None
    """The last change, as far as anybody looked."""


def part_states() -> list[PartState]:
    """Every part, in the order in which an answer needs them."""
    parts = [_part(name, state) for name, state in engine().readiness().items()]
    parts += [_chat_model(), _disk(), _worker(), *filter(None, [_contact()])]
    counts = current_app.extensions.get("docent-metrics") is not None
    parts += [_part(name, state) for name, state in states(runtime(), counts).items()]
    if not sees_all():
        return parts  # what a part says may concern other sites, and so does since when it does
    return [replace(part, since=shared().heartbeat.since(part.name, part.is_well)) for part in parts]


def _part(name: str, state: str) -> PartState:
    return PartState(name, True) if state == "ok" else PartState(name, False, state, ADVICE.get(name, ""))


def _chat_model() -> PartState:
    name = configuration().settings.models.chat_model_name
    if not configuration().settings.models.uses_chat_model:
        return PartState("chat", True, _("None: answers are quoted from the pages."))
    since = datetime.now(UTC) - RECENT
    recent = [
        incident
        for incident in stores().incidents.recent(visible_ids(), 200)
        if incident.at >= since and incident.kind in MODEL_KINDS
    ]
    seconds, why = engine().chat_pause()
    if seconds:
        says = _(
            "%(model)s is not called for %(time)s after failures. %(reason)s",
            model=name,
            time=duration(seconds),
            reason=sentence(why),
        )
        return PartState("chat", False, says, kind_of(recent[0].kind).advice if recent else "")
    if not recent:
        return PartState("chat", True, _("%(model)s: no failure in the last hour.", model=name))
    times = sum(incident.count for incident in recent)
    kind = kind_of(recent[0].kind)
    says = ngettext(
        "%(model)s: %(num)s failure in the last hour. The last one: %(kind)s.",
        "%(model)s: %(num)s failures in the last hour. The last one: %(kind)s.",
        times,
        model=name,
        kind=kind.label,
    )
    return PartState("chat", False, says, kind.advice)


def _disk() -> PartState:
    """Check the data folder's disk; a database elsewhere has its own."""
    try:
        free = shutil.disk_usage(configuration().folder.path).free
    except OSError as error:
        return PartState(
            "disk", False, _("DATA_DIR cannot be read: %(reason)s.", reason=error.strerror), DISK
        )
    least = configuration().settings.storage.disk_free_mb * 1_000_000
    says = _("%(size)s GB are free on the disk of DATA_DIR.", size=decimal(free / 1e9, 1))
    if free >= least:
        return PartState("disk", True, says)
    stops = _("Crawls stop below %(size)s GB.", size=number(least / 1e9))
    return PartState("disk", False, f"{says} {stops}", DISK)


def _worker() -> PartState:
    """No process is asked: a worker that takes no jobs is as bad as none, and jobs show both."""
    last = shared().heartbeat.last()
    if last and datetime.now(UTC) - last > PATIENCE:
        silent = duration((datetime.now(UTC) - last).total_seconds())
        return PartState("worker", False, _("No worker has been seen for %(time)s.", time=silent), WORKER)
    runs = [run for site in stores().sites.all() if (run := stores().crawls.latest(site.id))]
    waiting = [run for run in runs if run.state == "waiting"]
    running = [run for run in runs if run.state == "running"]
    seen = sum(sees(run.site_id) for run in waiting)
    waits = ngettext("%(num)s crawl is waiting.", "%(num)s crawls are waiting.", seen) if seen else ""
    oldest = min((run.started_at for run in waiting), default=None)
    if running:
        name = running[0].site_id if sees(running[0].site_id) else _("another site")
        works = _("It crawls %(site)s.", site=name)
        return PartState("worker", True, f"{works} {waits}")
    if oldest and datetime.now(UTC) - oldest > PATIENCE:
        return PartState("worker", False, _("Crawls are waiting and no worker takes them."), WORKER)
    return PartState("worker", True, waits or _("Nothing is waiting."))


def _contact() -> PartState | None:
    """None while no site takes messages and none is left from when one did."""
    options = [ContactOptions.of(site.options) for site in visible_sites()]
    waiting, failed = (
        delivery().contact.count(state, visible_ids())
        for state in (DeliveryState.WAITING, DeliveryState.FAILED)
    )
    rest = resting(configuration().settings)
    if rest and any(one.email for one in options):
        says = _("Messages of a site go to an e-mail address, but no mail server is set up.")
        advice = _("Set one up under Settings, Mail. Until then messages wait on this dashboard.")
        return PartState("contact", False, says, advice)
    due = delivery().deliveries.due_since(rest)
    if due and datetime.now(UTC) - due > PATIENCE:
        return PartState("contact", False, _("Messages are waiting, and no worker is sending them."), WORKER)
    if failed:
        says = ngettext("%(num)s could not be sent.", "%(num)s could not be sent.", failed)
        return PartState("contact", False, says, _("Open Messages: each says why. Then press “Send again”."))
    if waiting:
        says = ngettext("%(num)s is on its way.", "%(num)s are on their way.", waiting)
        return PartState("contact", True, says)
    return PartState("contact", True, _("Nothing is waiting.")) if any(one.on for one in options) else None


page = Page(menu=lazy("Health"), help="operations#how-do-i-check-that-docent-is-healthy")

SHOWN = 200


@page.get("/health")
def health() -> ResponseReturnValue:
    """Incidents of one `site` or of all, of one `kind` or any, of the last `days` or all that are kept."""
    sites, site_id, site_ids = chosen_site()
    days, since = chosen_days()
    kinds = stores().incidents.kinds(site_ids, since)
    kind = one_of("kind", {*KINDS, *kinds})
    incidents = [
        (incident, kind_of(incident.kind, incident.message))
        for incident in stores().incidents.recent(site_ids, SHOWN, since, kind)
    ]
    return render_template(
        "admin/health.html",
        parts=part_states(),
        names=PARTS,
        versions=_versions(),
        queued=len(crawling().jobs) if sees_all() else None,
        incidents=incidents,
        sites=sites,
        site_id=site_id,
        days=days,
        kind=kind,
        kind_options=[
            ("", _("Any")),
            *((name, kind_of(name).label) for name in sorted({*kinds, kind} - {""})),
        ],
        times=kinds.get(kind, 0) if kind else sum(kinds.values()),
        shown=SHOWN,
    )


def _versions() -> list[tuple[str, str]]:
    """What somebody who helps will ask for first."""
    settings = configuration().settings
    return [
        ("Docent", version()),
        (_("Schema of the database"), upgrade.newest()),
        (_("Database"), database().dialect),
        ("Python", platform.python_version()),
        (_("System"), f"{platform.system()} {platform.machine()}"),
        (_("Chat model"), settings.models.chat_model_name if settings.models.uses_chat_model else _("none")),
        (_("Embedding model"), settings.models.embedding_model or "all-MiniLM-L6-v2"),
    ]
