"""Which models a provider offers, where it says so."""

from __future__ import annotations

import openai

from server.models.openai import OPENAI_URL
from server.models.openai_errors import Endpoint, as_model_errors

TIMEOUT_S = 10.0
MOST = 500


def offered_models(api_key: str, base_url: str) -> list[str]:
    """Their names, sorted; [] from a provider without such a list. Raises ModelError."""
    endpoint = Endpoint(base_url or OPENAI_URL, "", "CHAT_MODEL")
    with as_model_errors(endpoint):
        client = openai.OpenAI(
            api_key=api_key or "none", base_url=endpoint.url, timeout=TIMEOUT_S, max_retries=0
        )
        with client:
            try:
                found = client.models.list().data
            except openai.NotFoundError:
                return []
    return sorted({model.id for model in found or []})[:MOST]
