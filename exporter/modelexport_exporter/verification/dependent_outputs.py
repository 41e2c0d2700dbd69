"""The outputs of a file that depend on operators of some kinds: rankings, random numbers, NaN."""

from __future__ import annotations

from collections.abc import Collection
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


def dependent_outputs(
    path: Path, kinds: frozenset[str], operators: Collection[str]
) -> frozenset[str]:
    """Return the outputs of a file that depend on operators of these kinds.

    Kinds are named as `operator_of` names them.

    `operators`: those of the file, which is read only if one of them is such an operator.
    """
    if kinds.isdisjoint(operators):
        return frozenset()
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except DecodeError:
        return frozenset()  # the session reports that the file is no ONNX
    dependent = _dependent_values(graph, kinds, frozenset())
    return frozenset(output.name for output in graph.output if output.name in dependent)


def _dependent_values(
    graph: onnx.GraphProto, kinds: frozenset[str], outer: frozenset[str]
) -> frozenset[str]:
    """Return the values that depend on the kinds; `outer`: those of the graph around this one."""
    found = set(outer)
    for node in graph.node:
        bodies = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
        known = frozenset(found)
        inside = any(len(_dependent_values(body, kinds, known)) > len(known) for body in bodies)
        if operator_of(node) in kinds or inside or not known.isdisjoint(node.input):
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
