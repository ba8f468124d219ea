"""The embedding model that needs no key and no network: all-MiniLM-L6-v2 on onnxruntime.

It reads English. Texts are cut at 256 tokens, the length that the model was trained for.
"""

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from server.domain.protocols import TOKEN_SCALE, EmbeddedText, ModelError, Vector
from server.models.graph_file import GRAPH_VERSION, STEM, TOKEN_SPACE, TOKEN_SPACE_NAME, WEIGHTS_SHA256
from server.models.minilm_weights import (
    MAX_TOKENS,
    find_model_folder,
    read_tokenizer,
    read_weights,
)

# The quantised graph is built once per installation and kept in the data folder.
#
# The file name contains the graph's version and the hash of its content. A file damaged by a crash, a full
# disk or a bad disk is therefore detected and built again, and two processes that build it at the same time
# write the same file.


OnProgress = Callable[[str], None]


def load_graph(cache_dir: Path, on_progress: OnProgress = lambda message: None) -> Path:
    """Return the checked graph file in `cache_dir`, building it first if needed. Raises ModelError."""
    try:
        return _find(cache_dir) or _build(cache_dir, on_progress)
    except OSError as error:
        raise ModelError(
            "wrong_model",
            f"the embedded model cannot be kept in {cache_dir} ({error.strerror}); free space there, "
            "make it writable or set DATA_DIR to another folder",
            permanent=True,
        ) from error


def _find(cache_dir: Path) -> Path | None:
    for path in sorted(cache_dir.glob(f"{STEM}-*.onnx")):
        if path.name == _name(path.read_bytes()):
            return path
    return None


def _build(cache_dir: Path, on_progress: OnProgress) -> Path:
    on_progress("reading the embedded model's weights")
    weights = read_weights(find_model_folder())
    on_progress("quantising the embedded model")
    from server.models.minilm_graph import build_graph  # onnx imports slowly and is needed only once

    content = build_graph(weights, np.load(TOKEN_SPACE))
    cache_dir.mkdir(parents=True, exist_ok=True)
    made = cache_dir / _name(content)
    _write_whole(made, content)
    for path in cache_dir.glob("minilm-*.onnx"):
        if path != made:
            path.unlink(missing_ok=True)
    return made


def _name(content: bytes) -> str:
    return f"{STEM}-{hashlib.sha256(content).hexdigest()[:16]}.onnx"


def _write_whole(path: Path, content: bytes) -> None:
    """Write the file atomically."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


_MAX_CHARACTERS = 16_000
"""Real text of 256 tokens is never longer. The limit bounds the time that one text can take."""


def prepare(cache_dir: Path, on_progress: OnProgress = lambda message: None) -> None:
    """Build the quantised model in `cache_dir` if it is missing, and embed one word.

    The first start takes seconds; `on_progress` gets one short line per step. Raises ModelError.
    """
    load_graph(cache_dir, on_progress)
    EmbeddedEmbedder(cache_dir).embed(["ready"])


_loading = threading.Lock()
_models: dict[Path, tuple[Tokenizer, onnxruntime.InferenceSession]] = {}


def load_model(cache_dir: Path) -> tuple[Tokenizer, onnxruntime.InferenceSession]:
    """Return this process's tokenizer and model, which the first call loads. Raises ModelError."""
    with _loading:
        if cache_dir not in _models:
            _models[cache_dir] = (open_tokenizer(), open_session(load_graph(cache_dir)))
        return _models[cache_dir]


T = TypeVar("T")


def embed_in_parallel(embed: Callable[[str], T], texts: Sequence[str], threads: int) -> list[T]:
    """Return what `embed` gives for each text, in order. A single text is embedded in the calling thread."""
    if len(texts) < 2 or threads == 1:
        return [embed(text) for text in texts]
    # Longest first, so that no thread has a long text left at the end.
    order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    made: dict[int, T] = {}
    with ThreadPoolExecutor(min(threads, len(texts)), "embed") as pool:
        for index, vector in zip(order, pool.map(lambda i: embed(texts[i]), order), strict=True):
            made[index] = vector
    return [made[index] for index in range(len(texts))]


def readable(text: str) -> str:
    """Return the text without half surrogate pairs: broken pages contain them, and they cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


class EmbeddedEmbedder:
    """Embeds with the model in `cache_dir`.

    The first call loads the model, once for all embedders of the process. The model starts no threads, so
    that processes forked later share its memory. A call with several texts embeds `threads` of them in
    parallel. A single text is embedded in the calling thread, so that visitors' queries do not wait for each
    other.
    """

    name = "all-MiniLM-L6-v2"
    token_space = f"minilm-{TOKEN_SPACE_NAME}"
    languages = frozenset({"en"})
    fingerprint = hashlib.sha256(f"{WEIGHTS_SHA256}:{GRAPH_VERSION}".encode()).hexdigest()[:12]

    def __init__(self, cache_dir: Path, threads: int = 1) -> None:
        self._cache_dir = cache_dir
        self._threads = threads
        self._loaded: tuple[Tokenizer, onnxruntime.InferenceSession] | None = None

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order. Raises ModelError."""
        return [text.vector for text in self.embed_tokens(texts)]

    def embed_tokens(self, texts: Sequence[str]) -> list[EmbeddedText]:
        """Return the vector of length 1 of each text, in order, and those of its tokens without the first
        and the last, which mark the text's ends. Raises ModelError."""
        self._load()
        return embed_in_parallel(self._embed_one, texts, self._threads)

    def _embed_one(self, text: str) -> EmbeddedText:
        tokenizer, session = self._load()
        ids = np.array([tokenizer.encode(readable(text[:_MAX_CHARACTERS])).ids], dtype=np.int32)
        found: Any = session.run(None, {"tokens": ids})
        vector: list[float] = found[0][0].tolist()
        return EmbeddedText(vector, np.rint(found[1][0, 1:-1] * TOKEN_SCALE).astype(np.int8).tobytes())

    def _load(self) -> tuple[Tokenizer, onnxruntime.InferenceSession]:
        if self._loaded is None:
            self._loaded = load_model(self._cache_dir)
        return self._loaded


def open_tokenizer() -> Tokenizer:
    """Return the model's tokenizer, without padding, cutting texts at 256 tokens. Raises ModelError."""
    tokenizer = Tokenizer.from_str(read_tokenizer(find_model_folder()))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def open_session(graph: Path, *, is_optimised: bool = True) -> onnxruntime.InferenceSession:
    """Return a session for a model file, which starts no threads and frees memory after each text. Our own
    graph `is_optimised` already: more would fuse operators that are faster apart."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Each text runs in one thread, so that onnxruntime's threads do not compete with the web threads.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Free memory after each text: an arena would keep as much as the longest text ever needed.
    options.enable_cpu_mem_arena = False
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC if is_optimised else levels.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
