"""Models with a cache: the same query is embedded once, the same prompt is answered once."""

import json
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256

from server.domain.protocols import (
    Cache,
    ChatModel,
    EmbeddedText,
    Embedder,
    Prompt,
    Vector,
    embedded,
    token_space,
)
from server.metrics import CACHES


class CachedEmbedder:
    """Caches the vectors of the last `entries` different short texts, in this process.

    It is meant for visitors' queries. Calls with more than `largest_call` texts are indexing and are not
    cached, nor are texts longer than `max_characters`. 4,000 entries of 384 dimensions are 10 MB, with the
    vectors of the tokens of short questions 15 MB.
    """

    def __init__(
        self, embedder: Embedder, entries: int = 4000, largest_call: int = 8, max_characters: int = 4000
    ) -> None:
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.languages = embedder.languages
        self.token_space = token_space(embedder)
        self._embedder = embedder
        self._entries = entries
        self._largest_call = largest_call
        self._max_characters = max_characters
        self._lock = threading.Lock()
        self._known: OrderedDict[str, EmbeddedText] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order. Raises ModelError."""
        if len(texts) > self._largest_call:
            return self._embedder.embed(texts)
        return [text.vector for text in self.embed_tokens(texts)]

    def embed_tokens(self, texts: Sequence[str]) -> list[EmbeddedText]:
        """Return the vector of each text, with those of its tokens if the embedder has them. Raises
        ModelError."""
        if len(texts) > self._largest_call:
            return embedded(self._embedder, texts)
        known = self._recall(texts)
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        CACHES.count("embedding", "hit", amount=len(known))
        CACHES.count("embedding", "miss", amount=len(missing))
        if missing:
            fresh = dict(zip(missing, embedded(self._embedder, missing), strict=True))
            known |= fresh
            self._remember(fresh)
        return [known[text] for text in texts]

    def _recall(self, texts: Sequence[str]) -> dict[str, EmbeddedText]:
        with self._lock:
            known = {text: self._known[text] for text in texts if text in self._known}
            for text in known:
                self._known.move_to_end(text)
        return {text: EmbeddedText(list(vector), tokens) for text, (vector, tokens) in known.items()}

    def _remember(self, fresh: dict[str, EmbeddedText]) -> None:
        with self._lock:
            for text, (vector, tokens) in fresh.items():
                if len(text) <= self._max_characters:
                    self._known[text] = EmbeddedText(array("d", vector), tokens)
            while len(self._known) > self._entries:
                self._known.popitem(last=False)


class CachedChat:
    """Caches complete replies for `ttl_s` seconds in `cache`, which all processes share.

    A reply is cached if it has at most `max_characters`, is not empty, and is JSON if JSON was
    requested. The cache limits the number of entries. The key covers the model and the whole prompt, so a
    prompt with other chunks, rules or history never gets an old reply.
    """

    def __init__(self, model: ChatModel, cache: Cache, ttl_s: float, max_characters: int = 20_000) -> None:
        self.name = model.name
        self._model = model
        self._cache = cache
        self._ttl_s = ttl_s
        self._max_characters = max_characters

    def complete(self, prompt: Prompt) -> str:
        """Return the whole reply. Raises ModelError."""
        key = self._key(prompt)
        reply = self._known(key)
        if reply is None:
            reply = self._model.complete(prompt)
            self._keep(key, prompt, reply)
        return reply

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the reply in pieces; a cached one is a single piece. Raises ModelError at any piece."""
        key = self._key(prompt)
        reply = self._known(key)
        if reply is not None:
            yield reply
            return
        pieces = []
        for piece in self._model.stream(prompt):
            pieces.append(piece)
            yield piece
        # This line is not reached when the reply broke off or the caller stopped reading.
        self._keep(key, prompt, "".join(pieces))

    def _known(self, key: str) -> str | None:
        reply = self._cache.get(key)
        CACHES.count("model", "miss" if reply is None else "hit")
        return reply

    def _key(self, prompt: Prompt) -> str:
        parts = [self.name, prompt.system, prompt.user, prompt.max_tokens, bool(prompt.json)]
        return "model-reply:" + sha256(json.dumps(parts).encode()).hexdigest()

    def _keep(self, key: str, prompt: Prompt, reply: str) -> None:
        if reply.strip() and len(reply) <= self._max_characters and (not prompt.json or _is_json(reply)):
            self._cache.set(key, reply, self._ttl_s)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
