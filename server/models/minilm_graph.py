"""all-MiniLM-L6-v2 as an ONNX graph with a low latency on CPUs.

The design choices were measured with benchmarks/embedding.py:

- Each run embeds one text, without padding or a mask. Attention takes onnxruntime's fast path, and a
  text's vector does not depend on the texts embedded with it.
- Products with weights use 8-bit integers, with one scale per output channel. Weights use 7 of the 8
  bits: on processors without VNNI instructions, sums of two full 8-bit products overflow.
- Add and LayerNormalization are two operators: the fused SkipLayerNormalization takes 4 times as long.
- Word vectors are 8-bit integers with one scale per word, which saves 34 MB of memory in each process.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from server.models.minilm_weights import MAX_TOKENS, Array

LAYERS, HEADS, HIDDEN = 6, 12, 384
_FUSED = "com.microsoft"
_WEIGHT_LEVELS = 63


def build_graph(weights: Mapping[str, Array], token_space: Array) -> bytes:
    """Return the serialised model: `tokens` (int32, [texts, length]) -> `vectors` ([texts, 384]) and
    `token_vectors` ([texts, length, n]), all of length 1.

    All texts of a run have the same number of tokens. `token_space` ([384, n]) projects the last layer.
    """
    graph = _Graph(weights)
    hidden = graph.embeddings()
    for number in range(LAYERS):
        hidden = graph.layer(hidden, f"encoder.layer.{number}.")
    mean = graph.node("ReduceMean", [hidden, graph.constant("text_axis", np.array([1]))], keepdims=0)
    graph.node("LpNormalization", [mean], ["vectors"], axis=-1, p=2)
    projected = graph.node("MatMul", [hidden, graph.constant("token_space", token_space)])
    graph.node("LpNormalization", [projected], ["token_vectors"], axis=-1, p=2)
    return graph.serialise(token_space.shape[1])


class _Graph:
    """Builds an ONNX graph. Every method returns the name of the tensor that it computes."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def embeddings(self) -> str:
        prefix = "embeddings."
        # All texts are in the first segment, so its vector is added to the positions in advance.
        segment = self._weights[prefix + "token_type_embeddings.weight"][0]
        positions = self._weights[prefix + "position_embeddings.weight"][:MAX_TOKENS] + segment
        length = self.node("Shape", ["tokens"], start=1, end=2)
        start, axis = self.constant("start", np.array([0])), self.constant("axis", np.array([0]))
        places = self.node("Slice", [self.constant("positions", positions), start, length, axis])
        words = self._words(self._weights[prefix + "word_embeddings.weight"])
        return self._normalised_sum(words, places, prefix + "LayerNorm.")

    def layer(self, hidden: str, prefix: str) -> str:
        attention = self._attention(hidden, prefix + "attention.self.")
        projected = self._linear(attention, prefix + "attention.output.dense.")
        hidden = self._normalised_sum(projected, hidden, prefix + "attention.output.LayerNorm.")
        inner = self.node("Gelu", [self._linear(hidden, prefix + "intermediate.dense.")], domain=_FUSED)
        outer = self._linear(inner, prefix + "output.dense.")
        return self._normalised_sum(outer, hidden, prefix + "output.LayerNorm.")

    def _words(self, table: Array) -> str:
        scales = np.abs(table).max(axis=1, keepdims=True) / np.float32(127)
        integers = self.constant("words", np.rint(table / scales).astype(np.int8))
        rows = self.node("Cast", [self.node("Gather", [integers, "tokens"])], to=TensorProto.FLOAT)
        return self.node("Mul", [rows, self.node("Gather", [self.constant("word_scales", scales), "tokens"])])

    def _attention(self, hidden: str, prefix: str) -> str:
        names = [prefix + part for part in ("query", "key", "value")]
        weight = np.concatenate([self._weights[f"{name}.weight"] for name in names])
        bias = np.concatenate([self._weights[f"{name}.bias"] for name in names])
        packed = self._product(hidden, prefix + "packed", weight, bias)
        self.node("Split", [packed], names, axis=2, num_outputs=3)
        return self.node("MultiHeadAttention", names, domain=_FUSED, num_heads=HEADS)

    def _linear(self, tensor: str, prefix: str) -> str:
        return self._product(tensor, prefix, self._weights[prefix + "weight"], self._weights[prefix + "bias"])

    def _product(self, tensor: str, name: str, weight: Array, bias: Array) -> str:
        """Compute tensor · weightᵀ + bias."""
        bias_name = self.constant(f"{name}.bias", bias)
        scales = np.abs(weight).max(axis=1) / np.float32(_WEIGHT_LEVELS)
        integers = np.rint(weight / scales[:, None]).astype(np.int8).T
        inputs = [
            tensor,
            self.constant(f"{name}.integers", integers),
            self.constant(f"{name}.scales", scales),
            self.constant(f"{name}.zeros", np.zeros(len(scales), np.int8)),
            bias_name,
        ]
        return self.node("DynamicQuantizeMatMul", inputs, domain=_FUSED)

    def _normalised_sum(self, left: str, right: str, prefix: str) -> str:
        scale = self.constant(prefix + "weight", self._weights[prefix + "weight"])
        bias = self.constant(prefix + "bias", self._weights[prefix + "bias"])
        total = self.node("Add", [left, right])
        return self.node("LayerNormalization", [total, scale, bias], axis=-1, epsilon=1e-12)

    def constant(self, name: str, value: np.ndarray[Any, Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], outputs: list[str] | None = None, **options: Any) -> str:
        name = f"{operator}.{len(self._nodes)}"
        outputs = outputs or [name]
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=name, **options))
        return outputs[0]

    def serialise(self, token_numbers: int) -> bytes:
        tokens = helper.make_tensor_value_info("tokens", TensorProto.INT32, ["texts", "length"])
        outputs = [
            helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", HIDDEN]),
            helper.make_tensor_value_info(
                "token_vectors", TensorProto.FLOAT, ["texts", "length", token_numbers]
            ),
        ]
        graph = helper.make_graph(self._nodes, "all-MiniLM-L6-v2", [tokens], outputs, self._constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_FUSED, 1)]
        serialised: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
        return serialised
