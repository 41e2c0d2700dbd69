"""Calls of decomposed operators that count, search and scatter, and of polynomials."""

from __future__ import annotations

import torch

from repairs.check import Call
from repairs.operators import BOOLS, INDEX, ROWS, SQUARE, WITH_INF, WITH_NAN, X, call, of

SORTED = torch.tensor([-1.0, 0.5, 0.9, 3.0])
POINTS = torch.arange(12.0).reshape(6, 2).sin()


def _polynomials() -> dict[str, list[Call]]:
    kinds = "chebyshev_polynomial_{0} shifted_chebyshev_polynomial_{0}"
    names = " ".join(kinds.format(letter) for letter in "tuvw")
    names += " hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l"
    names += " legendre_polynomial_p"
    special = "aten::special_"
    degrees = torch.tensor([[-1, 0, 1], [2, 3, 5]])
    return {
        **of(names, call(X, 3), prefix=special, suffix=".n_scalar"),
        **of(names, call(X, degrees), prefix=special),
        **of(names, call(0.7, degrees), prefix=special, suffix=".x_scalar"),
    }


CALLS: dict[str, list[Call]] = {
    **of("unique_consecutive", call(torch.tensor([1.0, 1.0, 2.0, 1.0]), True, True)),
    **of("repeat_interleave.self_int", Call((X,), open_dims=(0,))),
    **of("repeat_interleave.Tensor", call(torch.tensor([1, 3]), output_size=4)),
    **of("scatter.reduce", call(X, 0, INDEX, X, reduce="add")),
    **of("scatter.value_reduce", call(X, 0, INDEX, 2.0, reduce="multiply")),
    **of("index_reduce", call(X, 1, torch.tensor([0, 0]), X[:, :2], "prod")),
    **of("put", call(X, torch.tensor([0, 5]), torch.tensor([7.0, 8.0]))),
    **of("masked_select", call(X, BOOLS)),
    **of("as_strided_scatter", call(SQUARE, X[:, :2], [2, 2], [1, 2], 1)),
    **of("diagonal", call(torch.stack([WITH_NAN, WITH_INF]), 1), call(SQUARE / 0, -1, 1, 0)),
    **of("diagonal_scatter", call(SQUARE, X[0])),
    **of("searchsorted.Tensor", call(SORTED, X)),
    **of("searchsorted.Scalar", call(SORTED, 0.7)),
    **of("isin.Tensor_Tensor", call(X, torch.arange(40.0) / 10)),
    **of("isin.Scalar_Tensor", call(0.5, torch.arange(40.0) / 10)),
    **of("bincount", call(torch.tensor([1, 0, 1]), X[0])),
    **of(
        "scatter_reduce.two",
        call(X, 0, INDEX, X, "mean"),
        call(X, 0, INDEX, X, "mean", include_self=False),
    ),
    **of("scatter_add", call(torch.tensor(2.0), 0, torch.tensor(0), torch.tensor(3.0))),
    **of(
        "segment_reduce",
        call(ROWS, "mean", lengths=torch.tensor([2, 0, 4])),
        call(ROWS, "max", offsets=torch.tensor([1, 3, 3]), initial=0.25),
    ),
    **of("nonzero", call(X.double()), call(X.to(torch.int16))),
    **of("nonzero_static", call(BOOLS, size=2), call(BOOLS, size=5, fill_value=-7)),
    **of("histogram.bins_tensor", call(X, SORTED), call(X, SORTED, weight=X, density=True)),
    **of("histogram.bin_ct", call(X, 3), call(X, 3, range=[-1.0, 2.0])),
    **of("_histogramdd_bin_edges", call(POINTS, [2, 3]), call(POINTS[:1], [2, 3])),
    **of("_histogramdd_from_bin_cts", call(POINTS, [2, 3], density=True)),
    **of("_histogramdd_from_bin_tensors", call(POINTS, [SORTED, SORTED])),
    **_polynomials(),
}
