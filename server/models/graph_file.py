"""Name of the prepared embedded model's file in the data folder, and a check whether it exists.

It imports no model code, so that a process that only starts others stays small.
"""

import zlib
from pathlib import Path

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Hash of model.safetensors, as published by its authors."""
GRAPH_VERSION = 1
"""Raise it with every change of minilm_graph.py that alters the vectors. Indexes are then built again."""
TOKEN_SPACE = Path(__file__).with_name("token_space.npy")
"""Learned by benchmarks/learn_tokens.py."""
TOKEN_SPACE_NAME = f"{zlib.crc32(TOKEN_SPACE.read_bytes()):08x}"
FILE_VERSION = 2
"""Raise it with every other change of minilm_graph.py. Only the file is built again."""
STEM = f"minilm-{WEIGHTS_SHA256[:8]}-v{GRAPH_VERSION}.{FILE_VERSION}-{TOKEN_SPACE_NAME}"
"""First part of the file's name; the hash of its content follows."""


def is_built(cache_dir: Path) -> bool:
    """Return whether a graph file exists. Its content is checked when it is loaded."""
    return any(cache_dir.glob(f"{STEM}-*.onnx"))
