"""The embedded embedder against Chroma's default embedding function, on the same texts.

    python benchmarks/embedding.py [FOLDER of .html or .md files] [--chunks 256] [--rounds 5] [--json]

Both run the same model with the same number of threads. The baseline is Chroma's own class, given
the model in full precision: batches of 32 texts, each padded to 256 tokens. Rounds of both
alternate, so that a busy machine slows both down; the figure is the best round of each.

`recall@5` asks for each chunk by its own heading among all chunks, and says how often it is one
of the five nearest: once with full-precision vectors, once with ours.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from minilm_float32 import build_float32  # noqa: E402

from crawler.extractors import SourceDocument  # noqa: E402
from crawler.extractors.html.extractor import extract  # noqa: E402
from server.domain.chunk import Chunk  # noqa: E402
from server.indexing.chunker import ChunkSizes, chunk_page  # noqa: E402
from server.models.embedded import EmbeddedEmbedder, open_tokenizer, prepare  # noqa: E402
from server.models.minilm_weights import find_model_folder, read_weights  # noqa: E402

QUERY = "how do I reset my password on windows"
Embed = Callable[[list[str]], "np.ndarray"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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


def query_ms(embed: Embed, times: int = 100) -> float:
    """Median milliseconds to embed one short question."""
    durations = []
    for _ in range(times):
        began = time.perf_counter()
        embed([QUERY])
        durations.append(time.perf_counter() - began)
    return round(1000 * float(np.median(durations)), 2)


if __name__ == "__main__":
    main()
