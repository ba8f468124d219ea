"""The quantised graph, built once per installation and kept in the data folder.

The file's name carries the graph's version and the hash of its content, so a file that a crash, a
full disk or a bad disk damaged is noticed and built anew, and two processes that build it at the
same time put the same file in the same place.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from server.domain.protocols import ModelError
from server.models.minilm_weights import WEIGHTS_SHA256, find_model_folder, read_weights

GRAPH_VERSION = 1
"""Raise it with every change of minilm_graph.py that alters the vectors: indexes are then built anew."""

OnProgress = Callable[[str], None]


def load_graph(cache_dir: Path, on_progress: OnProgress = lambda message: None) -> bytes:
    """The serialised graph from `cache_dir`, built there first when needed. Raises ModelError."""
    stem = f"minilm-{WEIGHTS_SHA256[:8]}-v{GRAPH_VERSION}"
    try:
        return _read(cache_dir, stem) or _build(cache_dir, stem, on_progress)
    except OSError as error:
        raise ModelError(
            "wrong_model",
            f"the embedded model cannot be kept in {cache_dir} ({error.strerror}); free space there, "
            "make it writable or set DATA_DIR to another folder",
            permanent=True,
        ) from error


def is_built(cache_dir: Path) -> bool:
    """Whether a graph lies there; whether it is whole is seen when it is loaded."""
    stem = f"minilm-{WEIGHTS_SHA256[:8]}-v{GRAPH_VERSION}"
    return any(cache_dir.glob(f"{stem}-*.onnx"))


def _read(cache_dir: Path, stem: str) -> bytes | None:
    for path in sorted(cache_dir.glob(f"{stem}-*.onnx")):
        content = path.read_bytes()
        if path.name == _name(stem, content):
            return content
    return None


def _build(cache_dir: Path, stem: str, on_progress: OnProgress) -> bytes:
    on_progress("reading the embedded model's weights")
    weights = read_weights(find_model_folder())
    on_progress("quantising the embedded model")
    from server.models.minilm_graph import build_graph  # onnx takes long to import and is needed once

    content = build_graph(weights)
    cache_dir.mkdir(parents=True, exist_ok=True)
    _write_whole(cache_dir / _name(stem, content), content)
    for path in cache_dir.glob("minilm-*.onnx"):
        if path.name != _name(stem, content):
            path.unlink(missing_ok=True)
    return content


def _name(stem: str, content: bytes) -> str:
    return f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}.onnx"


def _write_whole(path: Path, content: bytes) -> None:
    """Writes the file so that it is seen whole or not at all."""
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
