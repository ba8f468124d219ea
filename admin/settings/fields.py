"""Settings of the installation as fields of a form: what holds, where it comes from, what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from flask import flash, g, request

from admin.access import configuration
from admin.audit import changed, unchanged
from server.changeable_settings import SECRETS, WrongSetting, shown
from server.settings import Settings, as_text

LABELS = {
    "openai_api_key": "API key",
    "openai_base_url": "Address of the API",
    "chat_model": "Chat model",
    "embedding_model": "Embedding model",
    "embedding_languages": "Its languages",
    "rerank_url": "Address of the rerank API",
    "rerank_model": "Rerank model",
    "rerank_api_key": "Key of the rerank API",
    "rerank_timeout_s": "Seconds for a reranking",
    "model_timeout_s": "Seconds for a reply",
    "model_first_token_s": "Seconds until the first words",
    "model_retries": "Further tries",
    "context_tokens": "Tokens of excerpts in a prompt",
    "model_cache_hours": "Hours that equal calls are remembered",
    "model_daily_tokens": "Tokens a day, all sites together",
    "site_daily_tokens": "Tokens a day, each site",
    "site_daily_cost": "Money a day, each site",
    "model_prices": "Prices",
    "visitor_limit": "Questions of one visitor",
    "address_limit": "Questions from one network address",
    "token_limit": "New visitors from one network address",
    "contact_limit": "Messages to people from one network address",
    "message_chars": "Longest question, in characters",
    "login_limit": "Login attempts",
    "api_limit": "Requests with one API key",
    "webhook_allow_private": "Webhooks may reach private networks",
    "conversation_days": "Days that conversations are kept",
    "contact_days": "Days that messages to people are kept",
    "consent_text": "What visitors agree to",
    "privacy_url": "Privacy page",
    "smtp_url": "Mail server",
    "mail_from": "Sender",
    "contact_tries": "Tries",
    "contact_retry_s": "Seconds until the second try",
    "contact_timeout_s": "Seconds that a try may take",
    "retrieve_limit": "Chunks handed to the writer",
    "relevance_floor": "Lowest answerability",
    "curated_threshold": "Likeness for a curated answer",
    "answer_cache_hours": "Hours that an answer is given again",
    "self_rag_max_count": "Searches for one question",
    "self_rag_max_retries": "Drafts for one question",
}
LONG = frozenset({"consent_text", "model_prices"})


@dataclass(slots=True)
class SettingField:
    """One setting in a form."""

    name: str
    label: str
    hint: str
    value: str
    """What stands in the field; empty for secrets."""
    kind: str
    """text, long, secret or tick."""
    shown: str
    """What holds now, for people."""
    origin: str
    """"dashboard", "start" or "default"."""
    at: datetime | None = None
    by: str = ""
    errors: list[str] = field(default_factory=list)
    problem: str = ""
    """Why what was set on the dashboard does not hold."""
    before: str = ""
    """What holds again when it is taken back, for people."""

    @property
    def id(self) -> str:
        return self.name


def fields_of(
    names: Iterable[str], typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[SettingField]:
    """The fields with what holds, or with what was `typed`."""
    live = configuration().live
    overrides, settings, base, problems = live.overrides, live.current, live.base, live.problems
    made = []
    for name in names:
        override = overrides.get(name)
        given = "start" if name in base.model_fields_set else "default"
        made.append(
            SettingField(
                name,
                LABELS[name],
                Settings.model_fields[name].description or "",
                (typed or {}).get(name, "" if name in SECRETS else as_text(getattr(settings, name))),
                _kind(name),
                shown(name, settings),
                "dashboard" if override else given,
                override.at if override else None,
                override.operator if override else "",
                [wrong] if (wrong := (errors or {}).get(name)) else [],
                problems.get(name, ""),
                shown(name, base) or "empty",
            )
        )
    return made


def typed_values(names: Iterable[str]) -> dict[str, str]:
    """What was typed for settings, of those that differ from what holds. An empty secret stays as it is,
    unless its tick to remove it is set."""
    settings, typed = configuration().live.current, {}
    for name in names:
        text = request.form.get(name, "").replace("\r\n", "\n").strip()
        if name in SECRETS:
            if request.form.get(f"{name}-remove"):
                typed[name] = ""
            elif text:
                typed[name] = text
        elif _kind(name) == "tick":
            typed[name] = "1" if name in request.form else "0"
        elif name in request.form:
            typed[name] = text
    return {name: text for name, text in typed.items() if text != as_text(getattr(settings, name))}


def save(names: Iterable[str]) -> dict[str, str] | None:
    """Stores what was typed; returns what is wrong by name ("" for what does not fit together), else None."""
    values = typed_values(names)
    if not values:
        unchanged()
        flash("Nothing was changed.", "done")
        return None
    before = configuration().live.current
    try:
        after = configuration().live.change(values, g.operator.email)
    except WrongSetting as error:
        return {error.name: sentence_of(error)}
    details = {name.upper(): [shown(name, before), shown(name, after)] for name in values}
    changed("changed settings", settings=details)
    flash("Saved. Every process takes it up within seconds.", "done")
    return None


def sentence_of(error: WrongSetting) -> str:
    """What is wrong, as it stands beside the field."""
    message = str(error)
    if message.startswith("String should match"):
        return "This is not written as it must be; see the example above."
    if message.startswith("is "):
        return f"This {message}."
    return message[0].upper() + message[1:].rstrip(".") + "."


def _kind(name: str) -> str:
    if name in SECRETS:
        return "secret"
    if Settings.model_fields[name].annotation is bool:
        return "tick"
    return "long" if name in LONG else "text"
