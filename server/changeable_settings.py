"""Which settings can be changed while Docent runs, from the dashboard, and how they are grouped there.

What belongs to the start of a process (ports, folders, databases, numbers of processes and threads) is not
among them.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from server.settings import Settings, as_text, problem_of

GROUPS: Mapping[str, tuple[str, ...]] = {
    "chat": ("openai_api_key", "openai_base_url", "chat_model"),
    "embedding": ("embedding_model", "embedding_languages"),
    "rerank": ("rerank_url", "rerank_model", "rerank_api_key", "rerank_timeout_s"),
    "calls": (
        "model_timeout_s", "model_first_token_s", "model_retries", "context_tokens", "model_cache_hours",
    ),
    "budgets": ("model_daily_tokens", "site_daily_tokens", "site_daily_cost", "model_prices"),
    "visitors": ("visitor_limit", "address_limit", "token_limit", "contact_limit", "message_chars"),
    "access": ("login_limit", "api_limit", "webhook_allow_private"),
    "retention": ("conversation_days", "contact_days"),
    "texts": ("consent_text", "privacy_url"),
    "mail": ("smtp_url", "mail_from"),
    "sending": ("contact_tries", "contact_retry_s", "contact_timeout_s"),
    "answers": (
        "retrieve_limit", "relevance_floor", "curated_threshold", "answer_cache_hours",
        "self_rag_max_count", "self_rag_max_retries",
    ),
}  # fmt: skip
CHANGEABLE = frozenset(name for names in GROUPS.values() for name in names)
SECRETS = frozenset({"openai_api_key", "rerank_api_key", "smtp_url"})
"""Never shown again once they are set."""
MODELS = (*GROUPS["chat"], *GROUPS["embedding"], *GROUPS["rerank"], *GROUPS["calls"])
SHOWN_CHARS = 4


class WrongSetting(Exception):
    """A value cannot be taken. `name` is empty when several do not fit together."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def changed(base: Settings, values: Mapping[str, str]) -> Settings:
    """`base` with these values instead, each as it would stand in an environment; an empty one means the
    default. Raises WrongSetting."""
    given = base.model_dump(exclude_unset=True)
    for name, value in values.items():
        if name not in CHANGEABLE:
            raise WrongSetting(name, "cannot be changed while Docent runs")
        given.pop(name, None)
        if value.strip():
            given[name] = value.strip()
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        raise WrongSetting(*problem_of(error)) from None


def ending(secret: str) -> str:
    """As much of a secret as may be shown: its end, when it is long enough to give nothing away."""
    return f"…{secret[-SHOWN_CHARS:]}" if len(secret) >= 4 * SHOWN_CHARS else "…"


def shown(name: str, settings: Settings) -> str:
    """A value for people: of secrets only that there is one."""
    value = as_text(getattr(settings, name))
    if name not in SECRETS or not value:
        return value
    if name == "smtp_url":
        scheme, _, rest = value.partition("://")
        return f"{scheme}://{'…@' if '@' in rest else ''}{rest.rpartition('@')[2]}"
    return f"set, ends in {ending(value)}" if len(value) >= 4 * SHOWN_CHARS else "set"
