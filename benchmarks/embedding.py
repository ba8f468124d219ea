"""The embedded embedder against Chroma's default embedding function, on the same texts.

    python benchmarks/embedding.py [FOLDER of .html or .md files] [--chunks 256] [--rounds 5] [--json]

Both run the same model with the same number of threads. The baseline is Chroma's own class, given
the model in full precision: batches of 32 texts, each padded to 256 tokens. Rounds of both
alternate, so that a busy machine slows both down; the figure is the best round of each.

`recall@5` asks for each chunk by its own heading among all chunks, and says how often it is one
of the five nearest: once with full-precision vectors, once with ours.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2
from markdown_it import MarkdownIt
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.command_line import argument_parser  # noqa: E402
from crawler.extractors import SourceDocument  # noqa: E402
from crawler.extractors.html.extractor import extract  # noqa: E402
from server.domain.chunk import Chunk  # noqa: E402
from server.indexing.chunker import ChunkSizes, chunk_page  # noqa: E402
from server.models.embedded import EmbeddedEmbedder, open_tokenizer, prepare  # noqa: E402
from server.models.minilm_weights import find_model_folder, read_weights  # noqa: E402

QUERY = "how do I reset my password on windows"
Embed = Callable[[list[str]], "np.ndarray"]
FUSED = "com.microsoft"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "docs")
    parser.add_argument("--chunks", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chunks = read_chunks(options.folder, options.chunks)
    with tempfile.TemporaryDirectory() as folder:
        result = compare(chunks, Path(folder), options.rounds, options.threads)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:38} {value}")


def compare(chunks: Sequence[Chunk], folder: Path, rounds: int, threads: int) -> dict[str, float]:
    """Speed, likeness and recall of both, by name."""
    texts = [chunk.indexed_text for chunk in chunks]
    prepare(folder / "ours")
    ours = EmbeddedEmbedder(folder / "ours", threads=threads)
    chroma = chroma_default(folder / "chroma")
    embedders: dict[str, Embed] = {
        "chroma": lambda some: np.array(chroma(some)),
        "ours": lambda some: np.array(ours.embed(some)),
    }
    best = dict.fromkeys(embedders, float("inf"))
    vectors = {}
    for embed in embedders.values():
        embed(texts[:32])
    for _ in range(rounds):
        for name, embed in embedders.items():
            began = time.perf_counter()
            vectors[name] = embed(texts)
            best[name] = min(best[name], time.perf_counter() - began)
    likeness = (vectors["chroma"] * vectors["ours"]).sum(axis=1)
    tokens = [len(open_tokenizer().encode(text).ids) for text in texts]
    return {
        "chunks": len(texts),
        "tokens per chunk, mean": round(float(np.mean(tokens)), 1),
        "chroma default, chunks/s": round(len(texts) / best["chroma"], 1),
        "embedded, chunks/s": round(len(texts) / best["ours"], 1),
        "times faster": round(best["chroma"] / best["ours"], 2),
        "cosine to full precision, mean": round(float(likeness.mean()), 4),
        "cosine to full precision, lowest": round(float(likeness.min()), 4),
        "recall@5 full precision, %": recall(chunks, embedders["chroma"]),
        "recall@5 embedded, %": recall(chunks, embedders["ours"]),
        "one query, ms, chroma default, median": query_ms(embedders["chroma"]),
        "one query, ms, embedded, median": query_ms(embedders["ours"]),
    }


class ChromaDefault(ONNXMiniLM_L6_V2):
    """Chroma's default embedding function, its files being in place."""

    def _download_model_if_not_exists(self) -> None:
        pass


def chroma_default(folder: Path) -> ONNXMiniLM_L6_V2:
    """Chroma's default embedding function with the model in `folder`."""
    function = ChromaDefault()
    function.DOWNLOAD_PATH = folder
    files = folder / function.EXTRACTED_FOLDER_NAME
    files.mkdir(parents=True)
    (files / "model.onnx").write_bytes(build_float32(read_weights(find_model_folder())))
    for name in (
        "config.json",
        "special_tokens_map.json",
        "tokenizer_config.json",
        "tokenizer.json",
        "vocab.txt",
    ):
        shutil.copy(find_model_folder() / name, files / name)
    return function


def build_float32(weights: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """Return all-MiniLM-L6-v2 in full precision, as onnxruntime has it after fusing the published export:
    input_ids, attention_mask, token_type_ids (int64) -> last_hidden_state.

    The model file that Chroma's default embedding function would fetch cannot be had offline; this one has
    the same inputs, the same output and the same operators, from the same weights.
    """
    graph = Float32Graph(weights)
    ids, mask, segments = (graph.node("Cast", [name], to=TensorProto.INT32) for name in INPUTS)
    hidden = graph.embeddings(ids, segments)
    for number in range(6):
        hidden = graph.layer(hidden, mask, f"encoder.layer.{number}")
    return graph.serialise()


class Float32Graph:
    def __init__(self, weights: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def embeddings(self, ids: str, segments: str) -> str:
        tables = [
            self.weight(f"embeddings.{kind}_embeddings.weight") for kind in ("word", "position", "token_type")
        ]
        inputs = [ids, segments, *tables, *self.scale_and_bias("embeddings.LayerNorm")]
        return self.node("EmbedLayerNormalization", inputs, outputs=2, domain=FUSED, epsilon=1e-12)

    def layer(self, hidden: str, mask: str, name: str) -> str:
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        packed = np.concatenate([self.weights[f"{part}.weight"].T for part in parts], axis=1)
        biases = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        inputs = [
            hidden,
            self.constant(f"{name}.qkv", packed),
            self.constant(f"{name}.qkv.bias", biases),
            mask,
        ]
        attended = self.node("Attention", inputs, domain=FUSED, num_heads=12)
        hidden = self.normalised_sum(attended, hidden, f"{name}.attention.output")
        inner = f"{name}.intermediate.dense"
        inputs = [self.product(hidden, inner), self.weight(f"{inner}.bias")]
        return self.normalised_sum(self.node("BiasGelu", inputs, domain=FUSED), hidden, f"{name}.output")

    def normalised_sum(self, tensor: str, skip: str, name: str) -> str:
        product, bias = self.product(tensor, f"{name}.dense"), self.weight(f"{name}.dense.bias")
        inputs = [product, skip, *self.scale_and_bias(f"{name}.LayerNorm"), bias]
        return self.node("SkipLayerNormalization", inputs, domain=FUSED, epsilon=1e-12)

    def product(self, tensor: str, name: str) -> str:
        return self.node(
            "MatMul", [tensor, self.constant(f"{name}.weight", self.weights[f"{name}.weight"].T)]
        )

    def scale_and_bias(self, name: str) -> list[str]:
        return [self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def constant(self, name: str, value: np.ndarray[Any, Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], outputs: int = 1, **options: Any) -> str:
        names = [f"{operator}.{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **options))
        return names[0]

    def serialise(self) -> bytes:
        self.nodes[-1].output[0] = OUTPUT
        value, shape = helper.make_tensor_value_info, ["texts", "length"]
        inputs = [value(name, TensorProto.INT64, shape) for name in INPUTS]
        outputs = [value(OUTPUT, TensorProto.FLOAT, [*shape, 384])]
        graph = helper.make_graph(self.nodes, "all-MiniLM-L6-v2", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
        serialised: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
        return serialised


def read_chunks(folder: Path, limit: int) -> list[Chunk]:
    """Chunks of the folder's pages as the product cuts them, a fixed random choice of `limit`."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".md"))
    random.Random(7).shuffle(paths)
    chunks: list[Chunk] = []
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".md":
            text = f"<title>{path.stem}</title><main>{MarkdownIt('commonmark').render(text)}</main>"
        source = SourceDocument(f"https://site.example/{path.relative_to(folder)}", text.encode())
        chunks += chunk_page(extract(source).page, ChunkSizes())
        if len(chunks) > 20 * limit:
            break
    if not chunks:
        sys.exit(f"{folder} has no .html or .md file with text in it")
    return random.Random(7).sample(chunks, min(limit, len(chunks)))


def recall(chunks: Sequence[Chunk], embed: Embed) -> float:
    """In how many of 100 cases a chunk is among the five nearest to its own heading."""
    bodies = embed([chunk.text for chunk in chunks])
    headings = embed([chunk.heading for chunk in chunks])
    nearest = np.argsort(-(headings @ bodies.T), axis=1)[:, :5]
    found = [index in row for index, row in enumerate(nearest)]
    return round(100 * float(np.mean(found)), 1)


def query_ms(embed: Embed) -> float:
    """Median milliseconds to embed one short question, of 100 times."""
    durations = []
    for _ in range(100):
        began = time.perf_counter()
        embed([QUERY])
        durations.append(time.perf_counter() - began)
    return round(1000 * float(np.median(durations)), 2)


if __name__ == "__main__":
    main()
