"""Test values mined from the ONNX file: constants that it compares with, scales or divides by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from modelexport_exporter.onnx_file.nested_graphs import graphs_of
from modelexport_exporter.sampling.inject import InjectedValues
from modelexport_exporter.verification.samples.inverted_constants import inverted_constants
from modelexport_exporter.verification.samples.thresholds import (
    GraphValues,
    small_constants,
)

MAX_CONSTANTS = 128
LARGEST_CONSTANT = 1e6
"""Larger ones stand for infinity, in masks."""
ROUNDING = frozenset({"Round", "Floor", "Ceil", "Cast"})
"""Operators that decide at halves, or at integers, of a value that a constant may have scaled."""
HALVES = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.5)
MAX_STEPS_BEFORE_ROUNDING = 4
"""Number of nodes before a rounding that are searched for its scale: quantizers clamp and shift in
between."""
MAX_PERIODS = 16


def find_injected_values(path: Path, bases: Iterable[float] = ()) -> InjectedValues:
    """Return the values to inject for a file. `bases`: ends of declared ranges.

    Empty if the file is not ONNX: the session reports that.
    """
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except DecodeError:
        return InjectedValues()
    scalars = _read_scalars(graph)
    floats, integers = _compared_with(graph)
    constants = set(filter(_is_injectable, (*scalars.values(), *floats)))
    scales = _scales_before_rounding(graph, scalars)
    halves = {half / scale for scale in scales for half in HALVES}
    return InjectedValues(
        tuple(sorted(constants)[:MAX_CONSTANTS]),
        tuple(sorted(halves - constants)[:MAX_CONSTANTS]),
        limits=tuple(sorted(filter(_is_injectable, floats))[:MAX_CONSTANTS]),
        compared=tuple(integers[:MAX_CONSTANTS]),
        periods=tuple(_periods(graph, scales)),
        reaching=inverted_constants(graph, bases),
    )


def _compared_with(graph: onnx.GraphProto) -> tuple[list[float], list[int]]:
    """Return the floats and integers that values are compared with, each once."""
    floats: dict[float, None] = {}
    integers: dict[int, None] = {}
    for values in _values_of(graph):
        for number in filter(_is_injectable, values.compared()):
            if isinstance(number, int):
                integers[number] = None
            else:
                floats[number] = None
    return [*floats], [*integers]


def _values_of(graph: onnx.GraphProto) -> Iterator[GraphValues]:
    """Yield the values of the graph and of those inside, which see the constants outside."""
    outer = GraphValues.of(graph)
    for own in map(GraphValues.of, graphs_of(graph)):
        yield replace(own, constants={**outer.constants, **own.constants})


def _periods(graph: onnx.GraphProto, scales: set[float]) -> list[float]:
    """Return what values are divided by before they are rounded, or for their remainder."""
    found = {1 / scale for scale in scales if scale}
    for values in _values_of(graph):
        found |= set(map(float, values.divisors()))
    return sorted(abs(number) for number in found if _is_injectable(number))[:MAX_PERIODS]


def _read_scalars(graph: onnx.GraphProto) -> dict[str, float]:
    """Return the floats of one element, by the name of their value."""
    named = small_constants(graph).items()
    return {
        name: float(array.reshape(-1)[0])
        for name, array in named
        if array.size == 1 and array.dtype.kind == "f"
    }


def _scales_before_rounding(graph: onnx.GraphProto, scalars: Mapping[str, float]) -> set[float]:
    """Return the factors that values are multiplied by before they are rounded, 1 included."""
    producers = {output: node for node in graph.node for output in node.output}
    scales = set()
    for node in graph.node:
        if node.op_type in ROUNDING:
            scales |= set(_scales(node, producers, scalars))
    return scales


def _scales(
    rounding: onnx.NodeProto, producers: Mapping[str, onnx.NodeProto], scalars: Mapping[str, float]
) -> Iterator[float]:
    """Yield the factors between a rounding and the values up to four nodes before it."""
    scale, node = 1.0, rounding
    for _ in range(MAX_STEPS_BEFORE_ROUNDING):
        yield scale
        followed = [name for name in node.input if name not in scalars]
        if not followed or followed[0] not in producers:
            return
        node = producers[followed[0]]
        by = next((scalars[name] for name in node.input if name in scalars), 1.0)
        if node.op_type in {"Mul", "Div"} and _is_injectable(by):
            scale *= by if node.op_type == "Mul" else 1 / by


def _is_injectable(value: float) -> bool:
    return math.isfinite(value) and 0 < abs(value) <= LARGEST_CONSTANT
