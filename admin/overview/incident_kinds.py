"""What an incident means: in the operator's words, what visitors got, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
