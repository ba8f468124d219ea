"""Opens the models named in the settings. A provider's module is imported only when it is used."""

from server.domain.protocols import Cache, ChatModel, Embedder, RelevanceModel
from server.guards.network import for_models
from server.models.cached import CachedChat, CachedEmbedder
from server.models.metered import Budgets, MeteredChat, read_prices
from server.models.resilient import CallLimits, ResilientChat, ResilientEmbedder, ResilientRelevance
from server.models.table import CHAT_MODELS, EMBEDDERS, RELEVANCE_MODELS
from server.settings import Settings
from server.storage.conversations.figures import UsageStore

INDEXING_PATIENCE_S = 300.0
"""Indexing waits this long for a busy provider; visitors do not."""
REMEMBERED_TEXTS = 20_000
"""Number of queries whose vectors each process caches, about 60 MB when full, and 90 MB with tokens."""
LARGEST_CALL, LONGEST_QUERY = 64, 500
"""Maximum number of texts in a cached call, since an answer compares this many at once, and their length:
longer texts are sections, which have their vectors in the database."""


def open_chat_model(settings: Settings, cache: Cache, log: UsageStore) -> ChatModel | None:
    """Return the configured model with retries, circuit breaker, budgets and cache; None without one.

    Raises ModelError for a setting that cannot work.
    """
    if not settings.models.uses_chat_model:
        return None
    model = CHAT_MODELS.load("openai")(
        settings.models.chat_model_name,
        api_key=settings.models.openai_api_key,
        base_url=settings.models.openai_base_url,
        first_token_s=settings.models.first_token_s,
        total_s=settings.models.timeout_s,
        guard=for_models(settings),
    )
    resilient = ResilientChat(model, _limits(settings))
    metered = MeteredChat(resilient, log, read_prices(settings.models.prices), settings.models.daily_tokens)
    if not settings.models.cache_hours:
        return metered
    return CachedChat(metered, cache, settings.models.cache_hours * 3600)


def open_query_embedder(settings: Settings, log: UsageStore) -> Embedder:
    """Return the embedder for visitors' queries: in the calling thread, with a cache. Raises ModelError."""
    embedder = open_embedder(settings, threads=1)
    if settings.models.uses_embedding_service:
        budgets = Budgets(log, settings.models.daily_tokens)
        embedder = ResilientEmbedder(embedder, _limits(settings), budgets)
    return CachedEmbedder(
        embedder, entries=REMEMBERED_TEXTS, largest_call=LARGEST_CALL, max_characters=LONGEST_QUERY
    )


def open_document_embedder(settings: Settings, log: UsageStore) -> Embedder:
    """Return the embedder for indexing: with EMBEDDED_THREADS and long retries. Raises ModelError."""
    embedder = open_embedder(settings, settings.models.embedded_threads, for_passages=True)
    if not settings.models.uses_embedding_service:
        return embedder
    limits = _limits(settings, retries=8, retry_until_s=INDEXING_PATIENCE_S)
    return ResilientEmbedder(embedder, limits, Budgets(log, settings.models.daily_tokens))


def open_relevance_model(settings: Settings) -> RelevanceModel | None:
    """Return the rerank API of RERANK_URL; None when none is configured."""
    if not settings.models.rerank_url:
        return None
    model = RELEVANCE_MODELS.load("http")(
        settings.models.rerank_url,
        settings.models.rerank_model,
        api_key=settings.models.rerank_api_key,
        timeout_s=settings.models.rerank_timeout_s,
        guard=for_models(settings),
    )
    # A visitor waits for it, and the existing order is good: at most one retry.
    return ResilientRelevance(
        model, _limits(settings, retries=min(1, settings.models.retries), retry_until_s=1.0)
    )


def open_embedder(settings: Settings, threads: int, *, for_passages: bool = False) -> Embedder:
    """Return the embedder named in the settings, without retries and budget. Raises ModelError."""
    if not settings.models.embedding_model:
        embedded: Embedder = EMBEDDERS.load("embedded")(settings.storage.models_folder, threads=threads)
        return embedded
    languages = {tag.strip().lower() for tag in settings.models.embedding_languages.split(",") if tag.strip()}
    if (own := settings.models.embedding_folder) is not None:
        prefixes = (settings.models.embedding_query_prefix, settings.models.embedding_passage_prefix)
        of_folder: Embedder = EMBEDDERS.load("folder")(
            own,
            threads=threads,
            prefix=prefixes[for_passages],
            prefixes=prefixes,
            languages=frozenset(languages),
        )
        return of_folder
    hosted: Embedder = EMBEDDERS.load("openai")(
        settings.models.embedding_model,
        api_key=settings.models.openai_api_key,
        base_url=settings.models.openai_base_url,
        languages=frozenset(languages),
        timeout_s=settings.models.timeout_s,
        guard=for_models(settings),
    )
    return hosted


def _limits(settings: Settings, retries: int | None = None, retry_until_s: float = 5.0) -> CallLimits:
    return CallLimits(
        total_s=settings.models.timeout_s,
        retries=settings.models.retries if retries is None else retries,
        retry_until_s=retry_until_s,
        concurrency=settings.models.concurrency,
    )
