"""all-MiniLM-L6-v2 in full precision, as onnxruntime has it after fusing the published export.

The model file that Chroma's default embedding function would fetch is not to be had offline; this
one has the same inputs, the same output and the same operators, from the same weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FUSED = "com.microsoft"
Weights = Mapping[str, np.ndarray[Any, Any]]


def build_float32(weights: Weights) -> bytes:
    """input_ids, attention_mask, token_type_ids (int64) -> last_hidden_state."""
    nodes: list[Any] = []
    constants: list[Any] = []

    def constant(name: str, value: np.ndarray[Any, Any]) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(operator: str, inputs: list[str], outputs: int = 1, **options: Any) -> str:
        names = [f"{operator}.{len(nodes)}.{i}" for i in range(outputs)]
        nodes.append(helper.make_node(operator, inputs, names, **options))
        return names[0]

    def pair(name: str) -> list[str]:
        return [constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]

    def product(tensor: str, name: str) -> str:
        return node("MatMul", [tensor, constant(f"{name}.weight", weights[f"{name}.weight"].T)])

    def bias(name: str) -> str:
        return constant(f"{name}.bias", weights[f"{name}.bias"])

    ids, mask, segments = (
        node("Cast", [name], to=TensorProto.INT32)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    )
    tables = [
        constant(f"{kind}_embeddings", weights[f"embeddings.{kind}_embeddings.weight"])
        for kind in ("word", "position", "token_type")
    ]
    inputs = [ids, segments, *tables, *pair("embeddings.LayerNorm")]
    hidden = node("EmbedLayerNormalization", inputs, outputs=2, domain=FUSED, epsilon=1e-12)
    for number in range(6):
        layer = f"encoder.layer.{number}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        weight = constant(
            f"{layer}.qkv", np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
        )
        qkv_bias = constant(f"{layer}.qkv.bias", np.concatenate([weights[f"{part}.bias"] for part in parts]))
        attended = node("Attention", [hidden, weight, qkv_bias, mask], domain=FUSED, num_heads=12)
        name = f"{layer}.attention.output"
        inputs = [
            product(attended, f"{name}.dense"),
            hidden,
            *pair(f"{name}.LayerNorm"),
            bias(f"{name}.dense"),
        ]
        hidden = node("SkipLayerNormalization", inputs, domain=FUSED, epsilon=1e-12)
        name = f"{layer}.intermediate.dense"
        inner = node("BiasGelu", [product(hidden, name), bias(name)], domain=FUSED)
        name = f"{layer}.output"
        inputs = [product(inner, f"{name}.dense"), hidden, *pair(f"{name}.LayerNorm"), bias(f"{name}.dense")]
        hidden = node("SkipLayerNormalization", inputs, domain=FUSED, epsilon=1e-12)
    nodes[-1].output[0] = "last_hidden_state"
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "all-MiniLM-L6-v2",
        [
            value(name, TensorProto.INT64, ["texts", "length"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [value("last_hidden_state", TensorProto.FLOAT, ["texts", "length", 384])],
        constants,
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    serialised: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return serialised
