"""Arrangements of a class's values as the arguments of an operator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import torch

from kernels.kernel import Arguments, Layout
from kernels.values import LENGTHS, drawn, tensor, vectors

EMPTY = ((0,), (0, 3), (2, 0))


def unary(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield vectors of several lengths, and empty ones."""
    for x in vectors(values, dtype):
        yield (x,)
    for shape in EMPTY:
        yield (torch.empty(shape, dtype=dtype),)


def binary(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield all pairs, a part of them at several lengths, a number and a vector, and empty ones."""
    plain = [1.0, 2.0, 3.0] if dtype is not torch.bool else [0.0, 1.0]
    first, second = torch.meshgrid(
        tensor(values, dtype), tensor([*values, *plain], dtype), indexing="ij"
    )
    x, y = first.flatten(), second.flatten()
    yield x, y
    yield y, x
    for length in LENGTHS:
        if length < len(x):
            yield x[-length:].clone(), y[-length:].clone()
    for number in tensor(values, dtype):
        yield x, number.reshape(1)
        yield number.reshape(1), x
    for shape in EMPTY:
        yield torch.empty(shape, dtype=dtype), torch.empty(shape, dtype=dtype)
    yield torch.empty((0, 3), dtype=dtype), tensor([1, 1, 1], dtype)


def no_zero(layout: Layout, *, place: int = 1) -> Layout:
    """Return the layout with ones in place of zeros in one argument: divisors of integers."""

    def changed(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
        for arguments in layout(values, dtype):
            given = list(arguments)
            if not dtype.is_floating_point:
                least = torch.iinfo(dtype).min if dtype is not torch.bool else 0
                bad = (given[place] == 0) | ((given[0] == least) & (given[place] == -1))
                given[place] = torch.where(bad, torch.ones_like(given[place]), given[place])
            yield tuple(given)

    return changed


def matrix(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield matrices, of which each value begins a row and ends one, and empty ones."""
    for length in LENGTHS:
        x = drawn(values, (2 * len(values), length), dtype, length)
        column = tensor(values, dtype)
        x[: len(values), 0] = column
        x[len(values) :, -1] = column
        yield (x,)
        yield (x.T.contiguous(),)
    # A single value of the class among ordinary ones.
    for value in values:
        x = drawn([1, 2, 3] if dtype is not torch.bool else [0, 1], (3, 9), dtype)
        x[0, 0] = x[1, 4] = x[2, 8] = tensor([value], dtype)[0]
        yield (x,)
        yield (x.T.contiguous(),)
    for shape in ((3, 0), (0, 3), (0, 0)):
        yield (torch.empty(shape, dtype=dtype),)


def cube(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield tensors of three dims, and empty ones."""
    for shape in ((2, 3, 4), (3, 17, 5), (1, 1, 33), (4, 2, 1)):
        yield (drawn(values, shape, dtype, sum(shape)),)
    for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        yield (torch.empty(shape, dtype=dtype),)


def images(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield images, also of one pixel, and no images."""
    for shape in ((1, 2, 5, 7), (2, 3, 8, 8), (1, 4, 9, 17), (1, 1, 4, 4)):
        yield (drawn(values, shape, dtype, sum(shape)),)
    yield (torch.empty((0, 2, 5, 7), dtype=dtype),)


def products(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield factors of matrix products, also of no rows, columns and terms."""
    for rows, terms, columns in (
        (1, 1, 1), (3, 4, 5), (2, 17, 3), (16, 16, 16), (1, 33, 8), (5, 7, 1),
        (0, 4, 5), (3, 0, 5), (3, 4, 0), (0, 0, 0),
    ):  # fmt: skip
        yield (
            drawn(values, (rows, terms), dtype, terms),
            drawn(values, (terms, columns), dtype, 1 + terms),
        )


def batched_products(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield batches of factors, and no batch."""
    for batch, rows, terms, columns in ((2, 3, 4, 5), (0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5)):
        yield (
            drawn(values, (batch, rows, terms), dtype, terms),
            drawn(values, (batch, terms, columns), dtype, 1 + terms),
        )


def with_mask(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield a mask before each pair."""
    for x, y in islice(binary(values, dtype), 40):
        shape = (x == y).shape
        yield torch.arange(max(shape.numel(), 1))[: shape.numel()].reshape(shape) % 3 == 0, x, y


def ranked(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield rows of at least five values that are all different, and empty batches."""
    distinct = list(dict.fromkeys([*values, *range(100, 106)]))
    for shift in range(len(distinct)):
        row = tensor([*distinct[shift:], *distinct[:shift]], dtype)
        if len(set(row.tolist())) == len(row):
            yield (torch.stack([row, row.flip(0)]),)
    yield (torch.empty((0, 8), dtype=dtype),)


def scattered(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield data, indices with repetitions, and updates."""
    for rows, columns in ((4, 3), (9, 17), (5, 1)):
        data = drawn(values, (rows, columns), dtype)
        index = torch.arange(rows * columns).reshape(rows, columns) * 7 % rows
        yield data, index, drawn(values, (rows, columns), dtype, 1)
    empty = torch.empty((0, 3), dtype=torch.int64)
    yield drawn(values, (4, 3), dtype), empty, torch.empty((0, 3), dtype=dtype)


def indexed(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield data and indices from both ends, and no indices."""
    data = drawn(values, (7, 5), dtype)
    yield data, torch.tensor([0, 6, 3, -1, -7])
    yield data, torch.empty(0, dtype=torch.int64)
    yield torch.empty((7, 0), dtype=dtype), torch.tensor([0, 6])
