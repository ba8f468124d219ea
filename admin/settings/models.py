"""Which models are asked: tried with what is typed before it is saved."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

from flask import flash, request
from flask.typing import ResponseReturnValue

from admin.formats import decimal
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.settings import settings as settings_page
from admin.settings.fields import Section
from admin.texts import _, lazy, ngettext
from server.api.access import configuration, crawling, stores
from server.domain.protocols import ChatModel, Embedder, ModelError, Prompt
from server.domain.spending import DailyLimit, Spending, charged
from server.guards.network import for_models
from server.models.metered import estimate_tokens, read_prices
from server.models.table import CHAT_MODELS
from server.runtime.models import open_embedder, open_relevance_model
from server.settings import Settings

QUESTION = Prompt("Reply with the one word: ready", "Are you ready?", max_tokens=200)
LONGEST_S = 20.0
ADVICE = {
    "unreachable": lazy("Check the address, and that this server may connect to it."),
    "timeout": lazy("Try again. If it stays slow, choose a smaller model or allow more time under Advanced."),
    "rate_limited": lazy("Wait a minute and try again, or check the limits and the credit of your account."),
    "server_error": lazy("The provider reports an error of its own. Try again later."),
    "wrong_key": lazy("Copy the key again from your provider’s page."),
    "wrong_model": lazy("Choose one of the names that the provider offers."),
    "bad_reply": lazy("Check that the address is that of an OpenAI-compatible API. Most end in /v1."),
    "budget_spent": lazy("Raise the daily limit, or wait for midnight (UTC)."),
}
NO_API = lazy(
    "Nothing at this address answers like a model API. Most end in /v1. If it is right, try again later."
)


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one model's test."""

    part: str
    model: str
    is_well: bool
    says: str
    advice: str = ""
    took_ms: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    kind: str = ""
    """Kind of the ModelError that it failed with."""


def try_models(settings: Settings) -> list[Trial]:
    """One trial of each model that the settings name."""
    if settings.models.uses_chat_model:
        trials = [_timed(_("Chat model"), settings.models.chat_model_name, lambda: _ask(settings))]
    else:
        says = _("No key and no address with a name is set. Answers quote your pages.")
        trials = [Trial(_("Chat model"), "", True, says)]
    name = settings.models.embedding_model or "all-MiniLM-L6-v2"
    trials.append(_timed(_("Search model"), name, lambda: _embed(settings)))
    if settings.models.rerank_url:
        name = settings.models.rerank_model
        trials.append(_timed(_("Reorder results"), name, lambda: _rerank(settings)))
    return trials


def _timed(part: str, model: str, ask: Callable[[], tuple[str, int, float]]) -> Trial:
    started = perf_counter()
    try:
        says, tokens, cost = ask()
    except ModelError as error:
        took = (perf_counter() - started) * 1000
        # After the semicolon the message names settings of the environment, for the log.
        said, kind = str(error).partition("; ")[0], error.kind
        return Trial(part, model, False, said, ADVICE.get(kind, ""), took, kind=kind)
    return Trial(part, model, True, says, "", (perf_counter() - started) * 1000, tokens, cost)


def _ask(settings: Settings) -> tuple[str, int, float]:
    model: ChatModel = CHAT_MODELS.load("openai")(
        settings.models.chat_model_name,
        api_key=settings.models.openai_api_key,
        base_url=settings.models.openai_base_url,
        first_token_s=min(settings.models.first_token_s, LONGEST_S),
        total_s=min(settings.models.timeout_s, LONGEST_S),
        guard=for_models(settings),
    )
    spending = Spending("", DailyLimit())
    with charged(spending):
        reply = " ".join(model.complete(QUESTION).split())
        estimated = estimate_tokens(QUESTION.system + QUESTION.user), estimate_tokens(reply)
        sent, received = spending.reported or estimated
    if not reply:
        raise ModelError("bad_reply", f"{model.name} replied with nothing")
    price_in, price_out = read_prices(settings.models.prices).get(model.name, (0.0, 0.0))
    cost = (sent * price_in + received * price_out) / 1e6
    return _("It replied “%(reply)s”", reply=reply[:60]), sent + received, cost


def _embed(settings: Settings) -> tuple[str, int, float]:
    embedder: Embedder = open_embedder(settings, threads=1)
    text = "A short text."
    (vector,) = embedder.embed([text])
    tokens = estimate_tokens(text) if settings.models.uses_embedding_service else 0
    return _("It works, with vectors of %(size)s numbers", size=len(vector)), tokens, 0.0


def _rerank(settings: Settings) -> tuple[str, int, float]:
    model = open_relevance_model(settings)
    assert model is not None, "RERANK_URL is set"
    near, far = model.relevance("Where is my parcel?", ["Parcels arrive in two days.", "We sell lamps."])
    near_far = {"near": decimal(near, 2), "far": decimal(far, 2)}
    return _("It rated the right text %(near)s and the wrong one %(far)s", **near_far), 0, 0.0


page = Page(section=lazy("Models"), under=settings_page.page, help="models")
section = Section(
    page, "models", "models", ["chat", "embedding", "rerank", "calls"],
    lambda: {"uses_model": configuration().settings.models.uses_chat_model},
)  # fmt: skip
REINDEX = lazy("Tick “Crawl every site again”: what was indexed with one search model does not fit another.")


@section.saves
def settings_models_save(after: Settings, typed: dict[str, str]) -> ResponseReturnValue:
    """Another embedding model needs every site to be read again, and that it is wanted."""
    reindex = _fingerprint(after) != _fingerprint(configuration().live.current)
    if reindex and "reindex" not in request.form:
        return section.show(typed, {"embedding_model": str(REINDEX)}, reindex=True), UNPROCESSABLE
    answer, sites = section.save(), [site for site in stores().sites.all() if site.generation]
    if reindex and not isinstance(answer, tuple):
        for site in sites:
            crawling().start(site.id)
        said = ngettext("%(num)s site is crawled again.", "%(num)s sites are crawled again.", len(sites))
        flash(said, "done")
    return answer


@section.tests
def settings_models_test(wanted: Settings, typed: dict[str, str]) -> ResponseReturnValue:
    """Asks each model one tiny question."""
    trials, offered = try_models(wanted), _offered(wanted)
    if not offered and trials[0].kind in ("server_error", "wrong_model", "bad_reply"):
        trials[0] = replace(trials[0], advice=NO_API)
    return section.show(typed, trials=trials, offered=offered, unsaved=bool(typed))


def _offered(settings: Settings) -> list[str]:
    if not (settings.models.openai_api_key or settings.models.openai_base_url):
        return []
    from server.models.openai import offered_models  # imports the provider's library

    models = settings.models
    try:
        return offered_models(models.openai_api_key, models.openai_base_url, for_models(settings))
    except ModelError:
        return []  # the trial says what is wrong


def _fingerprint(settings: Settings) -> tuple[str, ...]:
    """What vectors depend on."""
    models = settings.models
    if models.embedding_folder is not None:
        return models.embedding_model, models.embedding_query_prefix, models.embedding_passage_prefix
    return (models.embedding_model, models.openai_base_url) if models.embedding_model else ()
