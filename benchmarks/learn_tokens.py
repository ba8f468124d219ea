"""Learns server/models/token_space.npy: the space that the embedded model's token vectors are kept in.

    python -m benchmarks.learn_tokens --data DIR [--write]

Takes the tokens of English sections of the sites in DIR, 20 of each section, and finds the dimensions of the
model's last layer in which they differ most. `benchmarks.learn_ranking` says what the ranking gains by it.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

from benchmarks.command_line import argument_parser
from benchmarks.web_server import ROOT
from server.domain.protocols import TOKEN_NUMBERS
from server.models.embedded import open_session, open_tokenizer, readable
from server.models.minilm_graph import HIDDEN, build_graph
from server.models.minilm_weights import find_model_folder, read_weights
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings

FILE = ROOT / "server/models/token_space.npy"
SECTIONS, TOKENS = 6_000, 20


def main() -> None:
    """Learn, and print how much of the tokens' differences the space keeps."""
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    runtime = open_runtime(load_settings({"DATA_DIR": str(given.data), "LOG_LEVEL": "error"}))
    texts = [
        chunk.indexed_text
        for site in runtime.stores.sites.all()
        for chunk in runtime.stores.content(site.id).every_chunk()
        if chunk.language == "en"
    ]
    runtime.close()
    chosen = Random(1).sample(sorted(set(texts)), min(SECTIONS, len(set(texts))))
    graph = given.data / "token_space.onnx"
    graph.write_bytes(build_graph(read_weights(find_model_folder()), np.eye(HIDDEN, dtype=np.float32)))
    session, tokenizer = open_session(graph), open_tokenizer()
    graph.unlink()
    together = np.zeros((HIDDEN, HIDDEN))
    dice = np.random.default_rng(1)
    for text in chosen:
        ids = np.array([tokenizer.encode(readable(text)).ids], np.int32)
        rows = session.run(["token_vectors"], {"tokens": ids})[0][0, 1:-1]
        some = rows[dice.permutation(len(rows))[:TOKENS]].astype(float)
        together += some.T @ some
    strengths, directions = np.linalg.eigh(together)
    space = np.ascontiguousarray(directions[:, ::-1][:, :TOKEN_NUMBERS], np.float32)
    print(f"{len(chosen)} sections; {strengths[-TOKEN_NUMBERS:].sum() / strengths.sum():.2f} is kept")
    if given.write:
        np.save(FILE, space)


if __name__ == "__main__":
    main()
