"""The file of the prepared embedded model in the data folder: its name, and whether it is there.

Imports no model code, so that a process that only starts others stays small.
"""

from __future__ import annotations

from pathlib import Path

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors, as published by its authors."""
GRAPH_VERSION = 1
"""Raise it with every change of minilm_graph.py that alters the vectors: indexes are then built again."""
STEM = f"minilm-{WEIGHTS_SHA256[:8]}-v{GRAPH_VERSION}"
"""First part of the file's name; the hash of its content follows."""


def is_built(cache_dir: Path) -> bool:
    """Whether a graph is there; whether it is whole is checked when it is loaded."""
    return any(cache_dir.glob(f"{STEM}-*.onnx"))
