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
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"


def build_float32(weights: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """input_ids, attention_mask, token_type_ids (int64) -> last_hidden_state."""
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
