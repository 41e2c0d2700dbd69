"""Operators that reduce, accumulate, rank or multiply matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from kernels.kernel import Kernel
from kernels.layouts import batched_products, cube, matrix, products, ranked
from kernels.values import FLOATS, INTEGERS

_AXES: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("axis 1", (1,)),
    ("axis 0", (0,)),
    ("axis -1", (-1,)),
)
_CUBE: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("axes 0, 2", (0, 2)),
    ("axes 1, 2", (1, 2)),
    ("axes 0, 1", (0, 1)),
)
_ALL = ("all axes", ())
NUMBERS = (*FLOATS, *INTEGERS)


def _prod(x: Tensor, dims: tuple[int, ...], keep: bool) -> Tensor:
    for dim in sorted(dims or range(x.dim()), reverse=True):
        x = x.prod(dim, keepdim=keep, dtype=x.dtype)
    return x


_EAGER: dict[str, tuple[Callable[[Tensor, tuple[int, ...], bool], Tensor], Any]] = {
    "ReduceSum": (lambda x, dims, keep: x.sum(dims, keepdim=keep, dtype=x.dtype), NUMBERS),
    "ReduceProd": (_prod, NUMBERS),
    "ReduceMax": (lambda x, dims, keep: x.amax(dims, keepdim=keep), (*NUMBERS, torch.bool)),
    "ReduceMin": (lambda x, dims, keep: x.amin(dims, keepdim=keep), (*NUMBERS, torch.bool)),
    "ReduceMean": (lambda x, dims, keep: x.mean(dims, keepdim=keep), FLOATS),
    "ReduceL1": (lambda x, dims, keep: torch.linalg.vector_norm(x, 1, dims or None, keep), FLOATS),
    "ReduceL2": (lambda x, dims, keep: torch.linalg.vector_norm(x, 2, dims or None, keep), FLOATS),
    "ReduceLogSumExp": (
        lambda x, dims, keep: torch.logsumexp(x, dims or tuple(range(x.dim())), keep),
        FLOATS,
    ),
}


_ORDER_MATTERS = {
    "ReduceSum": ("largest",),
    "ReduceMean": ("largest",),
    "ReduceL1": ("largest",),
    "ReduceL2": ("largest",),
    "ReduceProd": ("largest", "magnitudes", "float ordinary", "float ties"),
}
"""Classes of floats of which a partial result overflows or not, by the order of the elements."""


def _reduction(operator: str, variant: str, dims: tuple[int, ...], *, keep: bool = True) -> Kernel:
    eager, dtypes = _EAGER[operator]
    return Kernel(
        operator,
        lambda x: eager(x, dims, keep),
        cube if len(dims) == 2 else matrix,
        attributes={"keepdims": int(keep)},
        constants={1: list(dims)} if dims else {},
        dtypes=dtypes,
        without=_ORDER_MATTERS.get(operator, ()),
        variant=variant,
    )


_REDUCTIONS = tuple(
    _reduction(operator, variant, dims, keep=keep)
    for operator in _EAGER
    for variant, dims, keep in (
        *((name, dims, True) for name, dims in (*_AXES, *_CUBE)),
        (*_ALL, False),
    )
)


_RANKING = (
    Kernel("ArgMax", lambda x: x.argmax(1, keepdim=True), matrix, {"axis": 1}, dtypes=NUMBERS),
    Kernel("ArgMin", lambda x: x.argmin(1, keepdim=True), matrix, {"axis": 1}, dtypes=NUMBERS),
    Kernel("ArgMax", lambda x: x.argmax(0, keepdim=True), matrix, {"axis": 0}, dtypes=NUMBERS,
           variant="axis 0"),
    Kernel("ArgMax", lambda x: x.argmax(-1), matrix, {"axis": -1, "keepdims": 0}, dtypes=NUMBERS,
           variant="axis -1"),
    Kernel("ArgMin", lambda x: x.argmin(-1), matrix, {"axis": -1, "keepdims": 0}, dtypes=NUMBERS,
           variant="axis -1"),
    Kernel("TopK", lambda x: torch.topk(x, 3), ranked, constants={1: [3]}, dtypes=NUMBERS,
           outputs=2),
    Kernel("TopK", lambda x: torch.topk(x, 3, largest=False), ranked, {"largest": 0},
           constants={1: [3]}, dtypes=NUMBERS, outputs=2, variant="smallest"),
)  # fmt: skip

_ACCUMULATING = (
    Kernel("CumSum", lambda x: x.cumsum(1, dtype=x.dtype), matrix, constants={1: 1},
           dtypes=NUMBERS, without=("largest",)),
    Kernel("CumSum", lambda x: x.cumsum(0, dtype=x.dtype), matrix, constants={1: 0},
           dtypes=NUMBERS, variant="axis 0", without=("largest",)),
    Kernel("Softmax", lambda x: x.softmax(1), matrix, {"axis": 1}, dtypes=FLOATS),
    Kernel("Softmax", lambda x: x.softmax(0), matrix, {"axis": 0}, dtypes=FLOATS,
           variant="axis 0"),
    Kernel("LogSoftmax", lambda x: x.log_softmax(1), matrix, {"axis": 1}, dtypes=FLOATS),
    Kernel("LogSoftmax", lambda x: x.log_softmax(0), matrix, {"axis": 0}, dtypes=FLOATS,
           variant="axis 0"),
)  # fmt: skip

_PRODUCTS = (
    Kernel("MatMul", torch.matmul, products, dtypes=NUMBERS, without=("largest",)),
    Kernel("MatMul", torch.matmul, batched_products, dtypes=NUMBERS, variant="batches",
           without=("largest",)),
    Kernel("Gemm", torch.matmul, products, dtypes=NUMBERS, without=("largest",)),
    Kernel("Gemm", lambda x, y: 0.5 * x @ y, products, {"alpha": 0.5}, dtypes=FLOATS,
           variant="alpha", without=("largest",)),
    Kernel("Einsum", lambda x, y: torch.einsum("ij,jk->ik", x, y), products,
           {"equation": "ij,jk->ik"}, dtypes=NUMBERS, without=("largest",)),
    Kernel("Einsum", lambda x: torch.einsum("ij->i", x), matrix, {"equation": "ij->i"},
           dtypes=NUMBERS, variant="sum", without=("largest",)),
)  # fmt: skip
KERNELS = (*_REDUCTIONS, *_RANKING, *_ACCUMULATING, *_PRODUCTS)
