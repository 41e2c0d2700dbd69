"""Operators that move elements: gathering, scattering, padding, joining and choosing."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.kernel import Arguments, Kernel
from kernels.layouts import cube, indexed, matrix, scattered
from kernels.values import FLOATS, INTEGERS, drawn

NUMBERS = (*FLOATS, *INTEGERS)
_REDUCED = {"none": None, "add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _scatter(reduction: str) -> Kernel:
    torchs = _REDUCED[reduction]

    def eager(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        if torchs is None:
            # Of equal indices any may be last: each row of indices is different.
            return x.scatter(0, index, source)
        return x.scatter_reduce(0, index, source, torchs)

    layout = _scattered_once if torchs is None else scattered
    return Kernel(
        "ScatterElements",
        eager,
        layout,
        {"axis": 0, "reduction": reduction},
        dtypes=NUMBERS,
        variant=reduction,
        without=("largest", "magnitudes") if reduction in {"add", "mul"} else (),
    )


def _scattered_once(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    for rows, columns in ((4, 3), (9, 17)):
        index = torch.stack([torch.arange(rows).roll(shift) for shift in range(columns)], 1)
        yield (
            drawn(values, (rows, columns), dtype),
            index,
            drawn(values, (rows, columns), dtype, 1),
        )


def _scatter_nd(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return x.index_put((index[:, 0],), source)


def _rows(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield data, indices of rows, and rows; none, too."""
    data = drawn(values, (7, 5), dtype)
    yield data, torch.tensor([[0], [6], [3], [-2]]), drawn(values, (4, 5), dtype, 1)
    yield data, torch.empty((0, 1), dtype=torch.int64), torch.empty((0, 5), dtype=dtype)


def _masked(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield rows and a mask, which may choose none."""
    data = drawn(values, (9, 5), dtype)
    yield data, torch.arange(9) % 2 == 0
    yield data, torch.zeros(9, dtype=torch.bool)


def _gathered(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    data = drawn(values, (7, 5), dtype)
    yield data, torch.arange(15).reshape(3, 5) % 7
    yield data, torch.empty((0, 5), dtype=torch.int64)


def _counts(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield where a range begins and ends, and its step."""
    for numbers in ((0, 7, 1), (3, 3, 1), (5, -6, -2), (0.5, 9, 0.25), (0, 100, 0.1)):
        yield tuple(torch.tensor(number).to(dtype) for number in numbers)


def _arange(start: torch.Tensor, end: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
    return torch.arange(start.item(), end.item(), step.item(), dtype=start.dtype)


def _pairs(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    for rows in (0, 1, 5, 17):
        yield drawn(values, (rows, 3), dtype), drawn(values, (4, 3), dtype, 1)


def _vectors(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    for size in (1, 5, 17, 0):
        yield (drawn(values, (size,), dtype),)


KERNELS = (
    *(_scatter(reduction) for reduction in _REDUCED),
    Kernel("ScatterND", _scatter_nd, _rows),
    Kernel("Gather", lambda x, index: x[index], indexed),
    Kernel("GatherElements", lambda x, index: x.gather(0, index), _gathered, {"axis": 0}),
    Kernel("GatherND", lambda x, index: x[index[:, 0]], lambda v, d: (
        (x, index) for x, index, _ in _rows(v, d))),
    Kernel("Range", _arange, _counts, dtypes=(torch.float32, torch.float64, *INTEGERS[:3])),
    Kernel("Compress", lambda x, mask: x[mask], _masked, {"axis": 0}),
    Kernel("Concat", lambda x, y: torch.cat([x, y]), _pairs, {"axis": 0}),
    Kernel("NonZero", lambda x: x.nonzero().T, matrix),
    Kernel("Transpose", lambda x: x.permute(2, 0, 1), cube, {"perm": [2, 0, 1]}),
    Kernel("Reshape", lambda x: x.reshape(-1), cube, constants={1: [-1]}),
    Kernel("Flatten", lambda x: x.flatten(1), cube, {"axis": 1}),
    Kernel("Squeeze", lambda x: x.squeeze(0), lambda v, d: (
        (x[None],) for (x,) in cube(v, d)), constants={1: [0]},),
    Kernel("Unsqueeze", lambda x: x.unsqueeze(1), cube, constants={1: [1]}),
    Kernel("Expand", lambda x: x.expand(2, *x.shape), _vectors, constants={1: [2, 1]}),
    Kernel("Tile", lambda x: x.tile(2, 1, 3), cube, constants={1: [2, 1, 3]}),
    Kernel("Slice", lambda x: x[:, 1:3], matrix, constants={1: [1], 2: [3], 3: [1]}),
    Kernel("Slice", lambda x: x.flip(1), matrix, constants={1: [-1], 2: [-(2**63)], 3: [1],
           4: [-1]}, variant="backwards"),
    Kernel("Split", lambda x: (x[:, :1], x[:, 1:]), lambda v, d: (
        (drawn(v, (n, 3), d),) for n in (1, 5, 0)), {"axis": 1}, {1: [1, 2]}, outputs=2),
    Kernel("Trilu", lambda x: x.triu(), matrix),
    Kernel("Pad", lambda x: F.pad(x, (1, 2)), matrix, constants={1: [0, 1, 0, 2]}),
    Kernel("Pad", lambda x: F.pad(x, (1, 1), "reflect"), lambda v, d: (
        (drawn(v, (2, n), d),) for n in (2, 5, 17)), {"mode": "reflect"}, {1: [0, 1, 0, 1]},
        variant="reflect"),
    Kernel("Pad", lambda x: F.pad(x, (1, 1), "replicate"), lambda v, d: (
        (drawn(v, (2, n), d),) for n in (1, 5, 17)), {"mode": "edge"}, {1: [0, 1, 0, 1]},
        variant="edge"),
    Kernel("DepthToSpace", lambda x: F.pixel_shuffle(x, 2), lambda v, d: (
        (drawn(v, (n, 8, 3, 5), d),) for n in (1, 2, 0)), {"blocksize": 2, "mode": "CRD"}),
    Kernel("OneHot", lambda x: F.one_hot(x, 7), lambda v, d: (
        (torch.arange(n) % 7,) for n in (0, 1, 9)), constants={1: 7, 2: [0, 1]},
        dtypes=(torch.int64,)),
)  # fmt: skip
