"""An embedding model from an operator's folder: any ONNX model with a tokenizer, on onnxruntime.

The folder is laid out as sentence-transformers publishes models: `model.onnx` here or in `onnx/`,
`tokenizer.json`, and, if there, `1_Pooling/config.json`, `sentence_bert_config.json` and `config.json`.
Nothing is downloaded, and no code from the folder is run.
"""

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from server.domain.protocols import ModelError, Vector
from server.models.embedded import embed_in_parallel, open_session, readable

USUAL_LENGTH = 512
"""Tokens of a text that are read, for a model whose files name no length."""
LONGEST = 8192
_SAMPLES, _SAMPLE_BYTES = 256, 4096
"""Pieces of a model file that its fingerprint covers: a start does not read gigabytes."""
_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "last",
}
_PLACES = {"cls": 0, "last": -1}
"""Pooling that takes one token's vector, by the token's place."""
_POOLED = ("sentence_embedding", "sentence_embeddings")
"""Outputs that already are one vector per text."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The checked files of a folder."""

    model: Path
    tokenizer: Path
    pooling: str
    longest: int
    """Maximum number of tokens of a text."""
    fingerprint: str


def read_folder(folder: Path) -> ModelFolder:
    """Check the files of a model folder. Raises ModelError, which names the file and what is wrong."""
    if not folder.is_dir():
        raise _wrong(f"{folder} is not a folder")
    model = next(
        (path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None
    )
    if model is None:
        raise _wrong(f"{folder} has no model.onnx")
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise _wrong(f"{folder} has no tokenizer.json")
    modules = _json(folder / "modules.json", [])
    types = [str(one.get("type", "")).rpartition(".")[2] for one in modules if isinstance(one, dict)]
    if "Dense" in types:
        raise _wrong(f"{folder} needs a Dense layer, which model.onnx does not have")
    pooling = _pooling(folder / "1_Pooling" / "config.json")
    longest = _longest(folder)
    content = hashlib.sha256(f"{pooling} {longest}".encode())
    try:
        for path in sorted({*model.parent.glob("model.onnx*"), tokenizer}):
            content.update(_sampled(path))
    except OSError as error:
        raise _wrong(f"{folder} cannot be read ({error.strerror})") from error
    return ModelFolder(model, tokenizer, pooling, longest, content.hexdigest())


class FolderEmbedder:
    """Embeds with the model in a folder.

    The first call loads the model, once per process for all embedders of the folder. `prefix` is put before
    every text: models such as e5 expect one before queries and another one before passages.
    """

    def __init__(
        self,
        folder: Path,
        threads: int = 1,
        *,
        prefix: str = "",
        prefixes: Sequence[str] = (),
        languages: frozenset[str] = frozenset(),
    ) -> None:
        """`prefixes` are those of queries and passages: vectors of others never mix. Raises ModelError."""
        self._files = read_folder(folder)
        self._threads = threads
        self._prefix = f"{prefix.strip()} " if prefix.strip() else ""
        self.name = folder.name
        self.languages = languages
        self.fingerprint = hashlib.sha256(
            json.dumps([self._files.fingerprint, *prefixes]).encode()
        ).hexdigest()[:12]

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order. Raises ModelError."""
        model = load_folder(self._files)
        return embed_in_parallel(lambda text: model.embed(self._prefix + text), texts, self._threads)


_loading = threading.Lock()
_models: dict[ModelFolder, "_FolderModel"] = {}


def load_folder(files: ModelFolder) -> "_FolderModel":
    """Return this process's model of a folder, which the first call loads. Raises ModelError."""
    with _loading:
        if files not in _models:
            _models[files] = _FolderModel(files)
        return _models[files]


class _FolderModel:
    """A loaded model with its tokenizer. Thread-safe."""

    def __init__(self, files: ModelFolder) -> None:
        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(files.tokenizer))
        except Exception as error:  # the library raises no other class
            raise _wrong(f"{files.tokenizer} is not a tokenizer ({_first_line(error)})") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(files.longest)
        try:
            self._session = open_session(files.model, is_optimised=False)
        except Exception as error:  # the library's errors have no public base class
            raise _wrong(f"{files.model} is not an ONNX model ({_first_line(error)})") from error
        self._pooling = files.pooling
        self._types = {one.name: one.type for one in self._session.get_inputs()}
        unknown = self._types.keys() - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
        if unknown or "input_ids" not in self._types:
            raise _wrong(
                f"{files.model} has other inputs than a text encoder: {', '.join(sorted(self._types))}"
            )
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = next((name for name in _POOLED if name in outputs), outputs[0])
        self.embed("ready")

    def embed(self, text: str) -> Vector:
        """Return the vector of one text. Raises ModelError."""
        ids = self._tokenizer.encode(readable(text)).ids or [0]
        inputs = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": [0] * len(ids),
            "position_ids": list(range(len(ids))),
        }
        fed = {name: np.array([inputs[name]], _type(kind)) for name, kind in self._types.items()}
        try:
            output: Any = self._session.run([self._output], fed)[0]
        except Exception as error:  # the library's errors have no public base class
            raise _wrong(f"the model fails on a text ({_first_line(error)})") from error
        vector = self._pooled(np.asarray(output, np.float32))
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or not length:
            raise _wrong("the model's vectors are not numbers, or all zero")
        found: Vector = (vector / length).tolist()
        return found

    def _pooled(self, output: Array) -> Array:
        shape = output.shape
        if len(shape) not in (2, 3) or shape[0] != 1:
            raise _wrong(
                f"the model's output {self._output} has the shape {list(shape)}, not that of vectors"
            )
        tokens: Array = output[0]
        pooled: Array
        if len(shape) == 2:
            pooled = tokens
        elif self._pooling in _PLACES:
            pooled = tokens[_PLACES[self._pooling]]
        else:
            pooled = tokens.max(axis=0) if self._pooling == "max" else tokens.mean(axis=0)
        return pooled


def _pooling(path: Path) -> str:
    config = _json(path, {})
    chosen = [name for name, is_on in config.items() if name.startswith("pooling_mode_") and is_on is True]
    if not chosen:
        return "mean"
    if len(chosen) > 1 or chosen[0] not in _POOLINGS:
        raise _wrong(f"{path} asks for {', '.join(chosen)}; known are {', '.join(_POOLINGS)}, one at a time")
    return _POOLINGS[chosen[0]]


def _longest(folder: Path) -> int:
    """Return the length that the files name; RoBERTa's positions begin at 2, so two are not usable."""
    named = _json(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    if not isinstance(named, int):
        config = _json(folder / "config.json", {})
        positions = config.get("max_position_embeddings")
        offset = 2 if "roberta" in str(config.get("model_type", "")) else 0
        named = positions - offset if isinstance(positions, int) else USUAL_LENGTH
    return max(8, min(named, LONGEST))


def _json(path: Path, default: Any) -> Any:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
    except (OSError, ValueError) as error:
        raise _wrong(f"{path} cannot be read ({error})") from error
    if type(found) is not type(default):
        raise _wrong(f"{path} must hold a JSON {'object' if default == {} else 'list'}")
    return found


def _sampled(path: Path) -> bytes:
    size = path.stat().st_size
    digest = hashlib.sha256(f"{path.name} {size}".encode())
    with path.open("rb") as file:
        for place in range(0, size, max(_SAMPLE_BYTES, size // _SAMPLES)):
            file.seek(place)
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.digest()


def _type(kind: str) -> type[np.generic]:
    return np.int32 if kind == "tensor(int32)" else np.int64


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _wrong(message: str) -> ModelError:
    return ModelError("wrong_model", f"EMBEDDING_MODEL: {message}", permanent=True)
