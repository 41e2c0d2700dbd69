"""Weights that are not the checkpoint's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mutants.mutations.graph import Array, Graph, attribute, given
from mutants.mutations.registry import Edit, mutation, rng_for

_BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_MANTISSA = {2: 10, 4: 23, 8: 52}
MANY = 12
"""No operator looks at more weights of one file."""


def _flipping(graph: Graph, which: Callable[[int], int]) -> Iterator[Edit]:
    """Flip one bit of one element; `which`: the bit, from the width of the mantissa."""
    for name, array in graph.weights()[:MANY]:
        place = int(rng_for(name).integers(array.size))
        yield f"{name}[{place}]", partial(_flip, graph, name, place, which)


def _flip(graph: Graph, name: str, place: int, which: Callable[[int], int]) -> None:
    array = graph.constant(name)
    assert array is not None
    size = array.dtype.itemsize
    bits: NDArray[np.unsignedinteger] = array.reshape(-1).view(_BITS[size])
    bits[place] ^= _BITS[size](1 << which(_MANTISSA[size]))
    graph.write(name, array)


@mutation
def low_mantissa_bit(graph: Graph) -> Iterator[Edit]:
    """A weight off by 2^-8: a rounding through another format, a damaged transfer."""
    yield from _flipping(graph, lambda mantissa: mantissa - 8)


@mutation
def high_mantissa_bit(graph: Graph) -> Iterator[Edit]:
    """A weight off by a quarter or more: a byte lost in external data."""
    yield from _flipping(graph, lambda mantissa: mantissa - 2)


@mutation
def exponent_bit(graph: Graph) -> Iterator[Edit]:
    """A weight times or divided by four."""
    yield from _flipping(graph, lambda mantissa: mantissa + 1)


@mutation
def sign_bit(graph: Graph) -> Iterator[Edit]:
    """A weight of the other sign."""
    yield from _flipping(graph, {10: 15, 23: 31, 52: 63}.__getitem__)


@mutation
def transposed_weight(graph: Graph) -> Iterator[Edit]:
    """A square weight transposed: its shape does not change (pytorch/pytorch#108342)."""
    for name, array in graph.weights(minimum=4):
        if array.ndim >= 2 and array.shape[-1] == array.shape[-2] > 1:
            yield name, partial(graph.write, name, np.swapaxes(array, -1, -2))


@mutation
def swapped_weights(graph: Graph) -> Iterator[Edit]:
    """Two weights of one shape under each other's name (pytorch/pytorch#41007)."""
    weights = graph.weights(minimum=3)
    for (one, first), (other, second) in pairwise(weights):
        if first.shape == second.shape and first.dtype == second.dtype:
            yield f"{one} and {other}", partial(_swap, graph, one, other)


def _swap(graph: Graph, one: str, other: str) -> None:
    first, second = graph.constant(one), graph.constant(other)
    assert first is not None
    assert second is not None
    graph.write(one, second)
    graph.write(other, first)


@mutation
def half_precision_weight(graph: Graph) -> Iterator[Edit]:
    """A weight stored in a narrower type and widened again (pytorch/pytorch#85316)."""
    for name, array in graph.weights()[:MANY]:
        narrower = {8: np.float32, 4: np.float16, 2: np.float16}[array.dtype.itemsize]
        if array.dtype.itemsize == 2:
            rounded: Array = (array.astype(np.float32) * 64).round() / 64
        else:
            rounded = array.astype(narrower)
        if not np.array_equal(rounded.astype(array.dtype), array):
            yield name, partial(graph.write, name, rounded.astype(array.dtype))


@mutation
def dropped_bias(graph: Graph) -> Iterator[Edit]:
    """A layer without its bias (pytorch/pytorch#34800 for recurrent layers)."""
    for node in graph.of("Gemm", "Conv", "ConvTranspose", "LayerNormalization"):
        if given(node, 2):
            yield node.output[0], partial(_without_third, node)
    for node in graph.of("Add"):
        for place in range(2):
            array = graph.constant(node.input[place])
            if array is not None and array.ndim == 1 and array.size > 1:
                zeros = np.zeros_like(array)
                yield node.output[0], partial(graph.feed, node, place, zeros)
    for node in graph.of("LSTM", "GRU"):
        bias = graph.constant(given(node, 3))
        if bias is not None:
            yield node.output[0], partial(graph.feed, node, 3, np.zeros_like(bias))


def _without_third(node: object) -> None:
    del node.input[2:]  # type: ignore[attr-defined]


@mutation
def gate_order(graph: Graph) -> Iterator[Edit]:
    """Gates in PyTorch's order where ONNX has another (pytorch/pytorch#8544)."""
    for node in graph.of("LSTM", "GRU"):
        gates = 4 if node.op_type == "LSTM" else 3
        hidden = int(attribute(node, "hidden_size"))
        order = [0, 1, 3, 2] if gates == 4 else [1, 0, 2]
        for place in (1, 2):
            array = graph.constant(node.input[place])
            if array is not None:
                parts = array.reshape(array.shape[0], gates, hidden, -1)[:, order]
                where = f"{node.output[0]} input {place}"
                yield where, partial(graph.feed, node, place, parts.reshape(array.shape))


@mutation
def tokens_off_by_one(graph: Graph) -> Iterator[Edit]:
    """A table of embeddings whose rows moved by one: the padding row was cut or added."""
    for node in graph.of("Gather"):
        table = graph.constant(node.input[0])
        if table is not None and table.ndim == 2 and table.dtype.kind == "f":
            yield node.output[0], partial(graph.write, node.input[0], np.roll(table, 1, axis=0))


@mutation
def zeroed_row(graph: Graph) -> Iterator[Edit]:
    """The row of a table that padding_idx names set to zero, although it was trained."""
    for node in graph.of("Gather"):
        table = graph.constant(node.input[0])
        if table is not None and table.ndim == 2 and table.dtype.kind == "f":
            row = int(rng_for(node.output[0]).integers(1, table.shape[0]))
            zeroed = table.copy()
            zeroed[row] = 0
            yield f"{node.output[0]} row {row}", partial(graph.write, node.input[0], zeroed)
