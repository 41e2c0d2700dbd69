"""The outputs of a file that depend on operators of some kinds: rankings, random numbers, NaN."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.read_back import operator_of

RANKING = frozenset({"TopK", "NonMaxSuppression"})
"""Operators whose order among equal values is not specified."""
RANDOM = frozenset(
    {
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        *("Bernoulli", "Multinomial"),
    }
)
UNLIKE_NAN = frozenset(
    {
        *("MaxPool", "GlobalMaxPool", "MaxRoiPool", "RoiAlign", "GridSample", "Resize"),
        *("LSTM", "GRU", "RNN", "LogSoftmax", "ScatterElements", "ScatterND", "DeformConv"),
        *("NonMaxSuppression", "Unique", "Hardmax"),
        *("QuantizeLinear", "DynamicQuantizeLinear", "DequantizeLinear"),
    }
)
"""Operators whose kernel on a CPU does not return torch's NaN (docs/onnxruntime.md), or may not."""

_TYPES = onnx.TensorProto
UNKNOWN = _TYPES.UNDEFINED
FLOATS = frozenset({_TYPES.FLOAT16, _TYPES.BFLOAT16, _TYPES.FLOAT, _TYPES.DOUBLE})
INTEGERS = frozenset(
    {_TYPES.INT8, _TYPES.INT16, _TYPES.INT32, _TYPES.INT64}
    | {_TYPES.UINT8, _TYPES.UINT16, _TYPES.UINT32, _TYPES.UINT64}
)
IsSource = Callable[[onnx.NodeProto], bool]
"""Returns whether what a node returns is of the kind in question."""


def dependent_outputs(
    path: Path, kinds: frozenset[str], operators: Collection[str]
) -> frozenset[str]:
    """Return the outputs of a file that depend on operators of these kinds.

    Kinds are named as `operator_of` names them.

    `operators`: those of the file, which is read only if one of them is such an operator.
    """
    if kinds.isdisjoint(operators):
        return frozenset()
    return _dependent_on(path, lambda node: operator_of(node) in kinds)


def rounded_outputs(path: Path, operators: Collection[str]) -> frozenset[str]:
    """Return the outputs that depend on a float that becomes an integer.

    Which integer NaN becomes is not specified. `operators`: as of `dependent_outputs`.
    """
    quantize = {name for name in operators if "QuantizeLinear" in name}
    if "Cast" not in operators and not quantize:
        return frozenset()
    graph = _read(path)
    dtypes = {value.name: value.type.tensor_type.elem_type for value in _typed(graph)}
    dtypes |= {tensor.name: tensor.data_type for tensor in graph.initializer}

    def rounds(node: onnx.NodeProto) -> bool:
        if node.op_type != "Cast":
            return operator_of(node) in quantize
        to = next((attribute.i for attribute in node.attribute if attribute.name == "to"), 0)
        return to in INTEGERS and dtypes.get(node.input[0], UNKNOWN) in FLOATS | {UNKNOWN}

    return _dependent_on(path, rounds)


def _typed(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    return [*graph.input, *graph.value_info, *graph.output]


def _read(path: Path) -> onnx.GraphProto:
    try:
        return onnx.load(path, load_external_data=False).graph
    except DecodeError:
        return onnx.GraphProto()  # the session reports that the file is no ONNX


def _dependent_on(path: Path, is_source: IsSource) -> frozenset[str]:
    graph = _read(path)
    dependent = _dependent_values(graph, is_source, frozenset())
    return frozenset(output.name for output in graph.output if output.name in dependent)


def _dependent_values(
    graph: onnx.GraphProto, is_source: IsSource, outer: frozenset[str]
) -> frozenset[str]:
    """Return the values that depend on sources; `outer`: those of the graph around this one."""
    found = set(outer)
    for node in graph.node:
        bodies = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
        known = frozenset(found)
        inside = any(len(_dependent_values(body, is_source, known)) > len(known) for body in bodies)
        if is_source(node) or inside or not known.isdisjoint(node.input):
            found.update(node.output)
    return frozenset(found)


def check_not_random(path: Path, operators: Collection[str]) -> None:
    """Raise ExportFailure if a file that agrees with a deterministic model draws random numbers."""
    random = sorted(dependent_outputs(path, RANDOM, operators))
    if random:
        found = ", ".join(sorted(RANDOM.intersection(operators)))
        raise ExportFailure(
            Reason.VERIFICATION_FAILED,
            f"output {random[0]} of the file depends on random numbers ({found}), and eager "
            "PyTorch returns the same result each time",
            "Remove the random operators from the file: agreement on samples says nothing of them.",
        )
