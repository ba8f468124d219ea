"""all-MiniLM-L6-v2 in plain numpy and double precision: what the fast graph is measured against.

python tests/models/minilm_reference.py writes reference_vectors.json beside this file.
"""

import json
import math
from pathlib import Path

import numpy as np

VECTORS = Path(__file__).with_name("reference_vectors.json")
HEADS = 12
SENTENCES = [
    "How do I reset my password?",
    "You can change the password under Settings, Account, Security.",
    "Orders over 50 euros are shipped free of charge within Germany.",
    "The autovacuum daemon reclaims storage occupied by dead rows.",
    "x = {key: value for key, value in zip(names, numbers)}",
    "Die Rückgabe ist innerhalb von 30 Tagen möglich.",
    " ".join(["Returned goods are refunded within a week after they have reached our warehouse."] * 12),
]


def reference_vector(weights, tokens):
    """The vector of one text, of length 1."""
    hidden = (
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][: len(tokens)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = normalised(weights, "embeddings.LayerNorm", hidden)
    for number in range(6):
        layer = f"encoder.layer.{number}"
        attended = linear(weights, f"{layer}.attention.output.dense", attention(weights, layer, hidden))
        hidden = normalised(weights, f"{layer}.attention.output.LayerNorm", attended + hidden)
        inner = linear(weights, f"{layer}.intermediate.dense", hidden)
        outer = linear(weights, f"{layer}.output.dense", gelu(inner))
        hidden = normalised(weights, f"{layer}.output.LayerNorm", outer + hidden)
    mean = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)


def attention(weights, layer, hidden):
    heads = []
    for part in ("query", "key", "value"):
        projected = linear(weights, f"{layer}.attention.self.{part}", hidden)
        heads.append(projected.reshape(len(hidden), HEADS, -1).swapaxes(0, 1))
    query, key, value = heads
    scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[-1])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return (shares @ value).swapaxes(0, 1).reshape(len(hidden), -1)


def linear(weights, name, tensor):
    return tensor @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def normalised(weights, name, tensor):
    centred = tensor - tensor.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def gelu(tensor):
    return tensor * 0.5 * (1.0 + np.vectorize(math.erf)(tensor / math.sqrt(2.0)))


def main():
    from server.models.embedded import open_tokenizer
    from server.models.minilm_weights import find_model_folder, read_weights

    weights = {name: tensor.astype(np.float64) for name, tensor in read_weights(find_model_folder()).items()}
    tokenizer = open_tokenizer()
    weights.pop("embeddings.position_ids", None)
    rows = [
        {"text": text, "vector": reference_vector(weights, tokenizer.encode(text).ids).round(4).tolist()}
        for text in SENTENCES
    ]
    VECTORS.write_text(json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
