"""For each form of complex tensors, calls of which torch.onnx alone refuses one."""

from __future__ import annotations

from typing import Any

import torch

from repairs.check import Call

torch.manual_seed(0)
Z = torch.randn(3, 4, dtype=torch.complex64)
ZERO = torch.zeros(3, 1, 4, dtype=torch.complex64)
SQUARE = torch.randn(4, 4, dtype=torch.complex64) + 2 * torch.eye(4)
X = torch.randn(3, 4)
MASK = X > 0
PICK = torch.tensor([2, 0])
COMPLEX = {"dtype": torch.complex64}

SHAPES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("aten::unsqueeze", (Z, 0), {}),
    ("aten::unsqueeze", (Z, -1), {}),
    ("aten::squeeze", (ZERO,), {}),
    ("aten::squeeze.dim", (ZERO, -2), {}),
    ("aten::squeeze.dim", (ZERO, 0), {}),
    ("aten::squeeze.dims", (ZERO, [0, 1]), {}),
    ("aten::select.int", (Z, -1, 2), {}),
    ("aten::expand", (ZERO, [2, 3, 5, 4]), {}),
    ("aten::repeat", (Z, [2, 1, 3]), {}),
    ("aten::roll", (Z, [1, 2], [0, -1]), {}),
    ("aten::roll", (Z, [5]), {}),
    ("aten::flip", (Z, [-1]), {}),
    ("aten::index.Tensor", (Z, [None, PICK]), {}),
    ("aten::index.Tensor", (Z, [PICK, PICK + 1]), {}),
    ("aten::index.Tensor", (Z, [MASK]), {}),
    ("aten::index_select", (Z, -1, PICK), {}),
    ("aten::gather", (Z, -1, torch.tensor([[3, 0], [1, 1], [2, 0]])), {}),
    ("aten::index_put", (Z, [None, PICK], Z[:, :2] * 2), {}),
    ("aten::index_put", (Z, [PICK], Z[:1], True), {}),
    ("aten::slice_scatter", (Z, Z[:, :2] * 3, -1, 1, 3), {}),
    ("aten::select_scatter", (Z, Z[:, 0] * 3, -1, 1), {}),
    ("aten::split.Tensor", (Z, 3, -1), {}),
    ("aten::split_with_sizes", (Z, [1, 3], 1), {}),
    ("aten::unbind.int", (Z, -1), {}),
    ("aten::constant_pad_nd", (Z, [1, 2]), {}),
    ("aten::constant_pad_nd", (Z, [0, 1, 2, 0], 2.5), {}),
    ("aten::where.self", (MASK, Z, X), {}),
    ("aten::where.self", (MASK[:, :1], Z, torch.tensor(0j)), {}),
    ("aten::masked_fill.Scalar", (Z, MASK, 2.0), {}),
    ("aten::masked_fill.Tensor", (Z, MASK, torch.tensor(1 - 2j)), {}),
    ("aten::diagonal", (Z,), {}),
    ("aten::diagonal", (Z.expand(2, 3, 4), 1, -1, 1), {}),
    ("aten::diagonal", (Z.expand(2, 3, 4), -1, 1, 2), {}),
    ("aten::linalg_solve", (SQUARE, Z.mT), {}),
    ("aten::linalg_solve", (SQUARE, Z[0]), {}),
    ("aten::linalg_solve", (SQUARE.expand(3, 4, 4), Z), {}),
    ("aten::linalg_solve", (SQUARE, Z), {"left": False}),
    ("aten::linalg_solve_ex", (SQUARE, Z.mT), {}),
    ("aten::linalg_inv", (SQUARE,), {}),
    ("aten::inverse", (SQUARE.expand(2, 4, 4),), {}),
    ("aten::linalg_inv_ex", (SQUARE,), {}),
    ("aten::tril", (Z, -1), {}),
    ("aten::triu", (Z,), {}),
    ("aten::unfold", (Z, -1, 2, 1), {}),
    ("aten::unfold", (Z, 0, 3, 2), {}),
    ("aten::copy", (Z, X), {}),
    ("aten::copy", (X, Z), {}),
    ("aten::copy", (Z, Z[:1]), {}),
    ("aten::_to_copy", (Z,), {"dtype": torch.complex128}),
    ("aten::_to_copy", (X,), COMPLEX),
    ("aten::_to_copy", (Z,), {"dtype": torch.float32}),
    ("aten::full_like", (Z, 1 - 2j), {}),
    ("aten::full_like", (X, 3), COMPLEX),
    ("aten::zeros_like", (Z,), {}),
    ("aten::zeros_like", (Z,), {"dtype": torch.float32}),
    ("aten::ones_like", (Z,), {}),
    ("aten::full", ([2, 3], 1j), {}),
    ("aten::zeros", ([2, 3],), COMPLEX),
    ("aten::ones", ([2, 3],), {"dtype": torch.complex128}),
    ("aten::new_zeros", (Z, [5]), {}),
    ("aten::new_zeros", (Z, [5]), {"dtype": torch.float32}),
    ("aten::new_ones", (Z, [5]), {}),
    ("aten::new_ones", (X, [5]), COMPLEX),
    ("aten::_conj_physical", (Z,), {}),
    ("aten::var_mean.correction", (Z, [1]), {"correction": 1}),
    ("aten::var_mean.correction", (Z,), {"keepdim": True}),
    ("aten::std_mean.correction", (Z, [0]), {"correction": 0, "keepdim": True}),
    ("aten::masked_select", (Z, MASK), {}),
    ("aten::masked_select", (Z[:, :1], MASK), {}),
    ("aten::scatter.src", (Z, -1, torch.tensor([[3, 0], [1, 2], [2, 0]]), 2 * Z), {}),
    ("aten::scatter_add", (Z, 1, torch.tensor([[3, 3], [1, 1], [2, 0]]), 2 * Z), {}),
    ("aten::cumprod", (Z, -1), {}),
    ("aten::cumsum", (Z, -1), {}),
    ("aten::prod.dim_int", (Z, 1), {}),
    ("aten::prod.dim_int", (Z, -1, True), {"dtype": torch.complex128}),
    ("aten::mm", (Z, Z.T), {}),
    ("aten::bmm", (ZERO + Z, (ZERO + Z).mT), {}),
    ("aten::matmul", (Z, Z[0]), {}),
    ("aten::mv", (Z, Z[0]), {}),
    ("aten::dot", (Z[0], Z[1]), {}),
    ("aten::addmm", (Z[:, :3], Z, Z.T), {"beta": 2j, "alpha": 0.5}),
    ("aten::addmm", (Z[0, :3], Z, Z.T), {"beta": 0}),
    ("aten::baddbmm", (ZERO[..., :3], ZERO + Z, (ZERO + Z).mT), {}),
    ("aten::addcmul", (Z, Z, X), {"value": 2j}),
    ("aten::addcdiv", (Z, Z, X + 4), {"value": 3}),
    ("aten::add.Tensor", (Z, X), {"alpha": 2}),
    ("aten::add.Tensor", (Z, Z), {"alpha": 2j}),
    ("aten::add.Scalar", (X, 2j), {}),
    ("aten::sub.Tensor", (X, Z), {}),
    ("aten::sub.Scalar", (Z, 1 + 2j), {}),
    ("aten::mul.Tensor", (X[:, :1], Z), {}),
    ("aten::mul.Scalar", (X, 1j), {}),
    ("aten::div.Tensor", (X, Z), {}),
    ("aten::div.Scalar", (Z, 2), {}),
]
OF_ONE = ("exp", "sqrt", "rsqrt", "sin", "cos", "sinh", "cosh", "tanh", "sigmoid", "tan")
INVERSE = ("asin", "acos", "atan", "asinh", "acosh", "atanh", "log1p", "expm1")
LOGARITHMS = ("log", "log2", "log10")
WHOLE_LINE = (*LOGARITHMS, "angle", "sgn", "isnan")


def _calls() -> dict[str, list[Call]]:
    calls: dict[str, list[Call]] = {}
    for name, args, kwargs in SHAPES:
        calls.setdefault(name, []).append(Call(args, kwargs))
    calls |= {f"aten::{name}": [Call((Z,))] for name in (*OF_ONE, *INVERSE, *WHOLE_LINE)}
    calls["aten::pow.Tensor_Scalar"] = [Call((Z, 3))]
    calls["aten::pow.Tensor_Tensor"] = [Call((Z, Z))]
    for name in ("eq", "ne"):
        calls[f"aten::{name}.Tensor"] = [Call((Z, Z))]
        calls[f"aten::{name}.Scalar"] = [Call((Z, 1 + 2j))]
    return calls


CALLS = _calls()
