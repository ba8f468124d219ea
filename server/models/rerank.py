"""Cross-encoders behind a rerank API: Jina, Cohere, vLLM, Hugging Face's text-embeddings-inference (TEI).

They all accept `POST .../rerank` with a query and texts, and return a relevance for each text. TEI uses other
field names. The first call detects which of the two a server uses.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import httpx2

from crawler.fetching.addresses import PUBLIC_ONLY, AddressGuard
from crawler.fetching.retry_after import retry_after_s
from server.domain.addresses import without_user
from server.domain.protocols import ModelError
from server.models.connections import guarded, one_line, sendable
from server.models.resilient import RetryLater

_CONNECT_S = 5.0
_MAX_CHARACTERS = 8_000
"""Characters sent of each text, more than any cross-encoder reads."""


class HttpRelevance:
    """Implements RelevanceModel with `model` at `url`, to which /rerank is added if it is missing."""

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        api_key: str = "",
        timeout_s: float = 5.0,
        guard: AddressGuard = PUBLIC_ONLY,
    ) -> None:
        self.name = model or "rerank"
        self._url = url if url.rstrip("/").endswith("rerank") else f"{url.rstrip('/')}/rerank"
        self._shown = without_user(self._url)
        self._model = model
        self._speaks_tei = False
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._guard = guard
        self._timeout = httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s))

    def relevance(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a relevance in [0, 1] for each text, in order; [] for []. Raises ModelError."""
        if not texts:
            return []
        cut = [sendable(text[:_MAX_CHARACTERS]) for text in texts]
        response = self._post(sendable(query), cut)
        if response.status_code in (400, 422) and not self._speaks_tei:
            self._speaks_tei = True
            second = self._post(sendable(query), cut)
            self._speaks_tei = second.is_success
            response = second if second.is_success else response
        if not response.is_success:
            raise self._refused(response)
        try:
            return _shares(_scores(response.json(), len(cut)))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            # Reading a reply that does not follow the protocol raises one of these.
            message = f"{self._shown} does not answer like a rerank API ({one_line(error)}); check RERANK_URL"
            raise ModelError("bad_reply", message) from error

    def _post(self, query: str, texts: list[str]) -> httpx2.Response:
        body: dict[str, Any] = {"query": query}
        if self._speaks_tei:
            body |= {"texts": texts, "truncate": True}
        else:
            body |= {"documents": texts, "top_n": len(texts)}
            body |= {"model": self._model} if self._model else {}
        try:
            return _connections(self._guard).post(
                self._url, json=body, headers=self._headers, timeout=self._timeout
            )
        except httpx2.TimeoutException as error:
            raise ModelError("timeout", f"{self._shown} did not answer in time") from error
        except (httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            message = f"{self._shown} cannot be reached ({one_line(error)}); check RERANK_URL and the network"
            raise ModelError("unreachable", message) from error
        except httpx2.HTTPError as error:
            message = f"{self._shown} broke off in the middle of a reply ({one_line(error)})"
            raise ModelError("server_error", message) from error

    def _refused(self, response: httpx2.Response) -> ModelError:
        status, detail = response.status_code, one_line(response.text)
        if status in (401, 403):
            message = f"{self._shown} refuses the key; check RERANK_API_KEY"
            return ModelError("wrong_key", message, permanent=True)
        if status == 404:
            message = f"{self._shown} has no such page or model ({detail}); check RERANK_URL and RERANK_MODEL"
            return ModelError("wrong_model", message, permanent=True)
        if status == 429:
            wait = retry_after_s(response.headers.get("retry-after", ""))
            message = f"{self._shown} limits the rate of calls"
            if wait is None:
                return ModelError("rate_limited", message)
            return RetryLater("rate_limited", message, wait)
        if status >= 500:
            return ModelError("server_error", f"{self._shown} failed with status {status} ({detail})")
        message = f"{self._shown} refused the call with status {status} ({detail})"
        return ModelError("bad_reply", message, permanent=True)


def _scores(reply: Any, count: int) -> list[float]:
    rows = reply if isinstance(reply, list) else reply["results"]
    scores: dict[int, float] = {}
    for row in rows:
        scores[int(row["index"])] = float(row["score"] if "score" in row else row["relevance_score"])
    if sorted(scores) != list(range(count)) or not all(map(math.isfinite, scores.values())):
        raise ValueError(f"{len(scores)} usable scores for {count} texts")
    return [scores[index] for index in range(count)]


def _shares(scores: list[float]) -> list[float]:
    """Return scores in [0, 1]. Raw model values, which some servers send, are mapped by a logistic curve."""
    if all(0 <= score <= 1 for score in scores):
        return scores
    return [1 / (1 + math.exp(-min(50.0, max(-50.0, score)))) for score in scores]


@lru_cache(maxsize=4)
def _connections(guard: AddressGuard) -> httpx2.Client:
    """Return the process's connection pool, kept open between questions."""
    return guarded(httpx2.Client(), guard)
