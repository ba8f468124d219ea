"""What went wrong while visitors were served, and whether every part works now."""

import platform
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.formats import duration
from admin.lists import chosen_days, chosen_site
from admin.page import Page
from admin.visible import sees, sees_all, visible_ids, visible_sites
from server.api.access import configuration, crawling, database, delivery, engine, shared, stores
from server.domain.contact import ContactOptions, DeliveryState
from server.settings import Settings
from server.storage import upgrade
from server.version import version

QUOTED = "Visitors got the quoted answer instead."
NOT_REWRITTEN = "The question was searched as it was asked."


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of incident is explained."""

    label: str
    effect: str
    advice: str


KINDS = {
    "unreachable": Kind("Model down", QUOTED, "Check OPENAI_BASE_URL and whether that server runs."),
    "timeout": Kind(
        "Model slow", QUOTED, "Ask the provider, or allow more time: MODEL_TIMEOUT_S, MODEL_FIRST_TOKEN_S."
    ),
    "rate_limited": Kind(
        "Model refuses more calls", QUOTED, "Raise the provider's limit or lower MODEL_CONCURRENCY."
    ),
    "server_error": Kind("Model failing", QUOTED, "The provider has a fault; look at its status page."),
    "wrong_key": Kind("Key refused", QUOTED, "Set a valid OPENAI_API_KEY under Settings, Models."),
    "wrong_model": Kind(
        "Unknown model", QUOTED, "Set CHAT_MODEL or EMBEDDING_MODEL to one that the provider has."
    ),
    "bad_reply": Kind("Model talks nonsense", QUOTED, "If it goes on, choose another CHAT_MODEL."),
    "unsupported_answer": Kind(
        "Answer not on the pages", QUOTED, "The model invented it. If it goes on, choose another CHAT_MODEL."
    ),
    "prompt_leak": Kind(
        "Model gave its rules away",
        "Nothing of it was shown.",
        "Read the conversation: somebody may try to take the chatbot over.",
    ),
    "visitor_budget": Kind(
        "One visitor's tokens spent",
        "This visitor got the quoted answer instead.",
        "Raise VISITOR_DAILY_TOKENS if visitors of good will ask so much.",
    ),
    "budget_spent": Kind("Token budget spent", QUOTED, "Raise MODEL_DAILY_TOKENS, or wait until tomorrow."),
    "index_held_back": Kind(
        "New index held back",
        "Visitors are answered from the index of before.",
        "Open Quality, look at the questions that got worse, and let the index go live or drop it.",
    ),
    "crawl_failed": Kind(
        "Crawl failed",
        "Visitors are answered from the last complete crawl, if there is one.",
        "Do what the message says, then crawl again.",
    ),
    "contact_failed": Kind(
        "Message of a visitor not sent",
        "The visitor waits for an answer; the message is kept under Messages.",
        "Do what the message says, then press “Send again” there.",
    ),
    "reply_failed": Kind(
        "Reply to a visitor not sent",
        "The visitor waits for your answer; it is kept with the message.",
        "Do what the message's page says, then press “Send again” there.",
    ),
    "webhook_failed": Kind(
        "Event not told to a webhook",
        "Your other system does not know of it; the event is kept under Settings, Webhooks.",
        "Do what the message says, then press “Send again” there.",
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


ADVICE = {
    "database": ("Database", "Check DATABASE_URL, the disk's free space and the rights on DATA_DIR."),
    "models": (
        "Embedding model",
        "Run `python -m server doctor`: it checks every model and says what to do.",
    ),
    "vectors": ("Vectors (Chroma)", "Check that the Chroma server runs, and CHROMA_URL if you set it."),
    "index": ("Index", "Add a site, or look at its last crawl."),
}

WORKER = "Start the worker: `make run` does, as does `python -m server worker` where processes run apart."

DISK = "Free space there, or move DATA_DIR: answers stop too when the disk is full."

PATIENCE = timedelta(seconds=60)
"""A crawl that waits longer while none runs has no worker to take it."""

RECENT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class PartState:
    """One line of the list of parts."""

    name: str
    is_well: bool
    says: str
    advice: str = ""
    since: datetime | None = None
    """As far as anybody looked."""


def part_states() -> list[PartState]:
    """Every part, in the order in which an answer needs them."""
    parts = [_part(name, state) for name, state in engine().readiness().items()]
    parts += [_chat_model(), _disk(), _worker(), *_contact()]
    if not sees_all():
        return parts  # what a part says may concern other sites, and so does since when it does
    return [replace(part, since=shared().heartbeat.since(part.name, part.is_well)) for part in parts]


def _part(name: str, state: str) -> PartState:
    label, advice = ADVICE.get(name, (name.capitalize(), ""))
    if state == "ok":
        return PartState(label, True, "Works")
    return PartState(label, False, state, advice)


def _chat_model() -> PartState:
    name = _model_name(configuration().settings)
    if not configuration().settings.models.uses_chat_model:
        return PartState("Chat model", True, f"{name}: answers are quoted from the pages, no model is called")
    since = datetime.now(UTC) - RECENT
    recent = [
        incident
        for incident in stores().incidents.recent(visible_ids(), 200)
        if incident.at >= since and incident.kind in MODEL_KINDS
    ]
    seconds, why = engine().chat_pause()
    if seconds:
        says = f"{name} is left alone for {seconds:.0f} s after failures: {why}"
        return PartState("Chat model", False, says, kind_of(recent[0].kind).advice if recent else "")
    if not recent:
        return PartState("Chat model", True, f"{name}: no failure in the last hour")
    times = sum(incident.count for incident in recent)
    kind = kind_of(recent[0].kind)
    return PartState(
        "Chat model",
        False,
        f"{name}: {times} failures in the last hour, the last: {kind.label.lower()}",
        kind.advice,
    )


def _model_name(settings: Settings) -> str:
    return settings.models.chat_model_name if settings.models.uses_chat_model else "Embedded writer"


def _disk() -> PartState:
    """Check the data folder's disk; a database elsewhere has its own."""
    try:
        free = shutil.disk_usage(configuration().folder.path).free
    except OSError as error:
        return PartState("Disk", False, f"DATA_DIR cannot be looked at: {error.strerror}", DISK)
    least = configuration().settings.storage.disk_free_mb * 1_000_000
    says = f"{free / 1e9:.1f} GB are free where DATA_DIR lies"
    if free >= least:
        return PartState("Disk", True, says)
    return PartState("Disk", False, f"{says}; crawls stop below {least / 1e9:g} GB", DISK)


def _worker() -> PartState:
    """No process is asked: a worker that takes no jobs is as bad as none, and jobs show both."""
    last = shared().heartbeat.last()
    if last and datetime.now(UTC) - last > PATIENCE:
        says = f"No worker has been seen for {duration((datetime.now(UTC) - last).total_seconds())}"
        return PartState("Queue worker", False, says, WORKER)
    runs = [run for site in stores().sites.all() if (run := stores().crawls.latest(site.id))]
    waiting = [run for run in runs if run.state == "waiting"]
    running = [run for run in runs if run.state == "running"]
    seen = sum(sees(run.site_id) for run in waiting)
    oldest = min((run.started_at for run in waiting), default=None)
    if running:
        name = running[0].site_id if sees(running[0].site_id) else "another site"
        return PartState("Queue worker", True, f"At work on {name}; {seen} crawls wait")
    if oldest and datetime.now(UTC) - oldest > PATIENCE:
        return PartState(
            "Queue worker",
            False,
            f"{seen or 'Other'} crawls wait and nobody takes them",
            WORKER,
        )
    return PartState("Queue worker", True, f"{seen} crawls wait" if seen else "Nothing waits")


def _contact() -> list[PartState]:
    """Nothing while no site takes messages and none is left from when one did."""
    options = [ContactOptions.of(site.options) for site in visible_sites()]
    waiting, failed = (
        delivery().contact.count(state, visible_ids())
        for state in (DeliveryState.WAITING, DeliveryState.FAILED)
    )
    label = "Messages to people"
    if any(one.email for one in options) and not configuration().settings.contact.smtp_url:
        says = "Messages of a site go to an e-mail address, but no mail server is set"
        advice = "Set SMTP_URL and MAIL_FROM, then start Docent again. Until then messages are kept."
        return [PartState(label, False, says, advice)]
    due = delivery().deliveries.due_since()
    if due and datetime.now(UTC) - due > PATIENCE:
        return [PartState(label, False, "Some wait and nobody sends them", WORKER)]
    if failed:
        says = f"{failed} {'was' if failed == 1 else 'were'} not sent after every try"
        return [PartState(label, False, says, "Open Messages: each says why. Then press “Send again”.")]
    if waiting:
        return [PartState(label, True, f"{waiting} {'is' if waiting == 1 else 'are'} on the way")]
    return [PartState(label, True, "Nothing waits")] if any(one.on for one in options) else []


page = Page(menu="Health")

SHOWN = 200


@page.get("/health")
def health() -> ResponseReturnValue:
    """Incidents of one `site` or of all, of one `kind` or any, of the last `days` or all that are kept."""
    sites, site_id, site_ids = chosen_site()
    days, since = chosen_days()
    kinds = stores().incidents.kinds(site_ids, since)
    kind = request.args.get("kind", "")
    kind = kind if kind in KINDS or kind in kinds else ""
    incidents = [
        (incident, kind_of(incident.kind, incident.message))
        for incident in stores().incidents.recent(site_ids, SHOWN, since, kind)
    ]
    return render_template(
        "admin/health.html",
        parts=part_states(),
        versions=_versions(),
        queued=len(crawling().jobs) if sees_all() else None,
        incidents=incidents,
        sites=sites,
        site_id=site_id,
        days=days,
        kind=kind,
        kind_options=[("", "Any"), *((name, kind_of(name).label) for name in sorted({*kinds, kind} - {""}))],
        times=kinds.get(kind, 0) if kind else sum(kinds.values()),
        shown=SHOWN,
    )


def _versions() -> list[tuple[str, str]]:
    """What somebody who helps will ask for first."""
    settings = configuration().settings
    return [
        ("Docent", version()),
        ("Schema of the database", upgrade.newest()),
        ("Database", database().dialect),
        ("Python", platform.python_version()),
        ("System", f"{platform.system()} {platform.machine()}"),
        ("Chat model", settings.models.chat_model_name if settings.models.uses_chat_model else "none"),
        ("Embedding model", settings.models.embedding_model or "all-MiniLM-L6-v2"),
    ]
