"""The English words that the embedded model knows as wholes: about twenty thousand common ones."""

from __future__ import annotations

import json
from functools import cache

from server.domain.protocols import ModelError
from server.models.minilm_weights import find_model_folder, read_tokenizer


@cache
def common_words() -> frozenset[str]:
    """In lower case; none when the model is not installed."""
    try:
        tokenizer = json.loads(read_tokenizer(find_model_folder()))
    except ModelError:
        return frozenset()
    return frozenset(word for word in tokenizer["model"]["vocab"] if word.isalpha())
