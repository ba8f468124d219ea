"""A folder with a tiny embedding model: one row of a table for each word."""

import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = [
    "[UNK]",
    "query:",
    "passage:",
    "bread",
    "brot",
    "bicycle",
    "rad",
    "the",
    "ready",
    *map(str, range(150)),
]
DIMENSIONS = 8


def vector_of(word):
    """Words that mean the same have nearly the same row, and numbers a row of their own."""
    if word.isdigit():
        return np.random.default_rng(int(word)).random(DIMENSIONS, np.float32)
    meaning = {"brot": "bread", "rad": "bicycle"}.get(word, word)
    row = np.zeros(DIMENSIONS, np.float32)
    row[WORDS.index(meaning) % DIMENSIONS] = 1.0
    row[DIMENSIONS - 1] += 0.1 if word != meaning else 0.0
    return row


def write_model(folder, *, inputs=("input_ids", "attention_mask"), place="model.onnx", extra=None, seed=0.0):
    """Write the model, its tokenizer and `extra`, which maps the names of configuration files to their content."""
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    table = np.stack([vector_of(word) for word in WORDS]) + seed
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "length", DIMENSIONS]
            )
        ],
        [numpy_helper.from_array(table.astype(np.float32), "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    save(model, str(folder / place))
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, content in (extra or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder
