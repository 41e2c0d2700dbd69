"""Integer operators agree with torch at every magnitude, with and without open dims."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, rewritten

EDGES = [
    0, 1, -1, 3, -7, 2**24 + 1, -(2**24) - 1, 2**31 - 1, 2**31, 2**31 + 3, -(2**31), -(2**31) - 1,
    2**32, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 2**63 - 1, -(2**63), 86_400 * 20_000 - 1,
    1_700_000_000_123, 1_701_000_000_456,
]  # fmt: skip
VALUES = np.array(EDGES, np.int64)
SHAPES = [(3, 4), (1, 1), (5, 17), (2, 0), (7, 33)]


def drawn(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Return edges, drawn."""
    return np.random.default_rng(seed).choice(VALUES, shape)


def same(found: Array, want: torch.Tensor) -> None:
    """Fail unless dtype, shape and every number agree."""
    np.testing.assert_array_equal(found, want.numpy(), strict=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [[0], [1], [0, 1], [-1]])
def test_sums_wrap(shape: tuple[int, ...], axes: list[int], keep: int) -> None:
    x = drawn(shape)
    model = graph_of("ReduceSum", [x], {1: np.array(axes, np.int64)}, keepdims=keep)
    same(rewritten(model, [x]), torch.from_numpy(x).sum(axes, keepdim=bool(keep)))


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_sums_at_older_opsets(opset: int) -> None:
    x = drawn((4, 9))
    if opset < 13:
        model = graph_of("ReduceSum", [x], None, opset, axes=[1], keepdims=0)
    else:
        model = graph_of("ReduceSum", [x], {1: np.array([1])}, opset, keepdims=0)
    same(rewritten(model, [x]), torch.from_numpy(x).sum(1))


def test_sum_of_int32_wraps() -> None:
    x = np.array([[2**31 - 1, 2**31 - 1, 5], [-(2**31), -(2**31), -1]], np.int32)
    model = graph_of("ReduceSum", [x], {1: np.array([1])}, keepdims=0)
    same(rewritten(model, [x]), torch.from_numpy(x).sum(1, dtype=torch.int32))


@pytest.mark.parametrize("operator", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_extremes(operator: str, axes: list[int], keep: int) -> None:
    x = drawn((6, 33), 1)
    model = graph_of(operator, [x], {1: np.array(axes, np.int64)}, keepdims=keep)
    function = torch.amax if operator == "ReduceMax" else torch.amin
    same(rewritten(model, [x]), function(torch.from_numpy(x), axes, bool(keep)))


def test_extreme_of_all() -> None:
    x = drawn((5, 7), 3)
    model = graph_of("ReduceMax", [x], keepdims=0)
    same(rewritten(model, [x]), torch.from_numpy(x).amax())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("axes", "keep"), [([0], 0), ([1], 1), ([-1], 0), (None, 0)])
def test_products_wrap(shape: tuple[int, ...], axes: list[int] | None, keep: int) -> None:
    x = drawn(shape, 2)
    given = None if axes is None else {1: np.array(axes, np.int64)}
    model = graph_of("ReduceProd", [x], given, keepdims=keep)
    t = torch.from_numpy(x)
    same(rewritten(model, [x]), t.prod() if axes is None else t.prod(axes[0], bool(keep)))


@pytest.mark.parametrize(("operator", "function"), [("Max", torch.maximum), ("Min", torch.minimum)])
def test_larger_and_smaller_of_two(operator: str, function: Any) -> None:  # noqa: ANN401
    x, y = (part.ravel() for part in np.meshgrid(VALUES, VALUES))
    model = graph_of(operator, [x, y])
    same(rewritten(model, [x, y]), function(torch.from_numpy(x), torch.from_numpy(y)))


@pytest.mark.parametrize("bounds", [(-5, 2**40), (2**31 + 1, None), (None, 7), (9, 3)])
def test_clips(bounds: tuple[int | None, int | None]) -> None:
    constants = {n + 1: np.array(b, np.int64) for n, b in enumerate(bounds) if b is not None}
    if 1 not in constants:
        # An input that is left out.
        low = np.iinfo(np.int64).min
        constants[1] = np.array(low)
    model = graph_of("Clip", [VALUES], constants)
    same(rewritten(model, [VALUES]), torch.from_numpy(VALUES).clamp(*bounds))


def test_signs() -> None:
    same(rewritten(graph_of("Sign", [VALUES]), [VALUES]), torch.from_numpy(VALUES).sign())


def test_remainders_towards_zero() -> None:
    x, y = (part.ravel() for part in np.meshgrid(VALUES, VALUES))
    kept = (y != 0) & ~((x == VALUES.min()) & (y == -1))
    x, y = x[kept], y[kept]
    model = graph_of("Mod", [x, y], fmod=1)
    same(rewritten(model, [x, y]), torch.from_numpy(x).fmod(torch.from_numpy(y)))


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("number", [1, 2, 3, 5, 17, 64])
def test_powers_wrap(dtype: type[np.int64], number: int) -> None:
    info = np.iinfo(dtype)
    x = np.array([v for v in EDGES if info.min <= v <= info.max], dtype)
    if number == 1 and dtype is np.int32:
        return  # exact in double
    model = graph_of("Pow", [x], {1: np.array(number, dtype)})
    same(rewritten(model, [x]), torch.from_numpy(x).pow(number))


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_powers_of_any_exponent(dtype: type[np.int64]) -> None:
    bases = np.array([0, 1, -1, 2, -2, 3, 10, -7, 2**24 + 1, 2**31 - 1], dtype)
    exponents = np.array([0, 1, 2, 3, 31, 63, 64, 65, 100, 65_535, -1, -2, -64], dtype)
    x, y = (part.ravel() for part in np.meshgrid(bases, exponents))
    model = graph_of("Pow", [x, y])
    same(rewritten(model, [x, y]), torch.from_numpy(x).pow(torch.from_numpy(y)))
