"""quantise: a network in ONNX with weights of 8 bits.

Each word piece is scaled by its own largest number. ONNX Runtime's dynamic quantisation has one
scale for a whole batch, so that a vector would depend on the other texts of its batch. Each column
of a matrix has a scale, too. It uses 7 of the 8 bits, since processors without VNNI add the
products of two neighbours in 16 bits.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from ..types import Array

_TOP = 63  # of a weight
_LEAST = 1e-12
_HALF = 128.5  # middle of an unsigned byte, plus a half, since the cast cuts decimals off


def quantise(source: Path, target: Path) -> None:
    """Write a copy of a network with int8 weights in matrix products and look-up tables."""
    model = onnx.load(source)
    graph = model.graph
    weights = {array.name: array for array in graph.initializer if len(array.dims) == 2}
    writer = _Writer()
    nodes = []
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            nodes += writer.product(node, onnx.numpy_helper.to_array(weights[node.input[1]]))
        elif node.op_type == "Gather" and node.input[0] in weights and not _axis(node):
            nodes += writer.rows(node, onnx.numpy_helper.to_array(weights[node.input[0]]))
        else:
            nodes.append(node)
    used = {name for node in nodes for name in node.input}
    kept = [array for array in graph.initializer if array.name in used]
    scaled = [onnx.numpy_helper.from_array(array, name) for name, array in writer.arrays.items()]
    for field, values in ((graph.node, nodes), (graph.initializer, [*kept, *scaled])):
        del field[:]
        field.extend(values)
    onnx.save(model, target)


class _Writer:
    """The writer of quantised nodes. arrays (Dict): the weights and scales of the nodes."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {
            "_half": np.array(_HALF, np.float32), "_zero": np.array(_HALF, np.uint8),
            "_most": np.array(127, np.float32), "_least": np.array(_LEAST, np.float32),
        }  # fmt: skip
        self._inputs: set[str] = set()

    def product(self, node: onnx.NodeProto, weights: NDArray[np.float32]) -> list[onnx.NodeProto]:
        """Multiply bytes: rows are scaled at run time, columns in advance."""
        (text, matrix), (out,) = node.input, node.output
        self._scaled(matrix, weights, 0)
        rounded = f"{text}_bytes"
        nodes = [] if text in self._inputs else [
            _node("Abs", text, out=f"{rounded}_size"),
            _node("ReduceMax", f"{rounded}_size", out=f"{rounded}_max", axes=[-1], keepdims=1),
            _node("Max", f"{rounded}_max", "_least", out=f"{rounded}_top"),
            _node("Div", f"{rounded}_top", "_most", out=f"{rounded}_scale"),
            _node("Div", text, f"{rounded}_scale", out=f"{rounded}_scaled"),
            _node("Add", f"{rounded}_scaled", "_half", out=f"{rounded}_up"),
            _cast(f"{rounded}_up", rounded, "UINT8"),
        ]  # fmt: skip
        self._inputs.add(text)
        return [
            *nodes,
            _node("MatMulInteger", rounded, f"{matrix}_bytes", "_zero", out=f"{out}_whole"),
            _cast(f"{out}_whole", f"{out}_float", "FLOAT"),
            _node("Mul", f"{out}_float", f"{rounded}_scale", out=f"{out}_rows"),
            _node("Mul", f"{out}_rows", f"{matrix}_scale", out=out),
        ]

    def rows(self, node: onnx.NodeProto, weights: NDArray[np.float32]) -> list[onnx.NodeProto]:
        """Look up rows of bytes, each with its scale."""
        (table, which), (out,) = node.input, node.output
        self._scaled(table, weights, 1)
        return [
            _node("Gather", f"{table}_bytes", which, out=f"{out}_bytes"),
            _cast(f"{out}_bytes", f"{out}_float", "FLOAT"),
            _node("Gather", f"{table}_scale", which, out=f"{out}_scale"),
            _node("Mul", f"{out}_float", f"{out}_scale", out=out),
        ]

    def _scaled(self, name: str, weights: NDArray[np.float32], axis: int) -> None:
        top = 127 if axis else _TOP  # tables are not multiplied, so they use all bits
        scale = np.maximum(np.abs(weights).max(axis=axis, keepdims=True), _LEAST) / top
        self.arrays[f"{name}_bytes"] = np.rint(weights / scale).astype(np.int8)
        self.arrays[f"{name}_scale"] = scale.astype(np.float32)


def _node(operation: str, *inputs: str, out: str, **attributes: Any) -> onnx.NodeProto:
    return onnx.helper.make_node(operation, inputs, [out], **attributes)


def _cast(source: str, out: str, dtype: str) -> onnx.NodeProto:
    return _node("Cast", source, out=out, to=getattr(onnx.TensorProto, dtype))


def _axis(node: onnx.NodeProto) -> int:
    return sum(attribute.i for attribute in node.attribute if attribute.name == "axis")
