"""Operators on numbers and their order, through export at other sizes than those of the capture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from exporter.decompositions.families import (
    Functions,
    assert_computes_what_eager_computes,
    distinct,
    inside,
    integers,
    normal,
    positive,
    ties,
)

special = torch.special

SPECIAL: Functions = {
    "erfcx": special.erfcx,
    "log_ndtr": special.log_ndtr,
    "lgamma": torch.lgamma,
    "digamma": torch.digamma,
    "polygamma_1": partial(torch.polygamma, 1),
    "i0": torch.i0,
    "i0e": special.i0e,
    "i1": special.i1,
    "i1e": special.i1e,
    "j0": special.bessel_j0,
    "j1": special.bessel_j1,
    "spherical_j0": special.spherical_bessel_j0,
    "airy": special.airy_ai,
    "signbit": torch.signbit,
    "frexp": torch.frexp,
    "hermite": lambda x: special.hermite_polynomial_h(x, 3),
    "legendre": lambda x: special.legendre_polynomial_p(x, 4),
}
SPECIAL_POSITIVE: Functions = {
    "y0": special.bessel_y0,
    "y1": special.bessel_y1,
    "k0": special.modified_bessel_k0,
    "k1": special.modified_bessel_k1,
    "scaled_k0": special.scaled_modified_bessel_k0,
    "scaled_k1": special.scaled_modified_bessel_k1,
    "zeta": lambda x: special.zeta(x + 1.5, x),
    "polygamma_3": partial(torch.polygamma, 3),
    "mvlgamma": lambda x: torch.mvlgamma(x + 3, 2),
    "gammaln": special.gammaln,
    "psi": special.psi,
}
INVERSE: Functions = {
    "erfinv": lambda p: torch.erfinv(2 * p - 1),
    "ndtri": special.ndtri,
}
SIGNS: Functions = {
    "atan2": lambda x: torch.atan2(x, x.flip(0)),
    "atan2_zeros": lambda x: torch.atan2(x * 0, x),
    "copysign": lambda x: torch.copysign(x + 1, x),
    "hypot": lambda x: torch.hypot(x, x + 1),
    "fmax": lambda x: torch.fmax(x, -x),
    "fmin": lambda x: torch.fmin(x, -x),
    "logaddexp": lambda x: torch.logaddexp(x, 2 * x),
    "logaddexp2": lambda x: torch.logaddexp2(x, 2 * x),
    "floor_divide": lambda x: x // 0.1,
    "remainder": lambda x: x % 0.1,
    "remainder_tensor": lambda x: torch.remainder(x, x.flip(0) + 0.5),
    "div_floor": lambda x: torch.div(x, -0.7, rounding_mode="floor"),
}
SCANS: Functions = {
    "runs": lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
    "runs_of_rows": lambda x: torch.unique_consecutive(x[:, :1] > 0, dim=0),
    "argsort": lambda x: x.argsort(dim=1, stable=True),
    "cummax": lambda x: torch.cummax(x, 1),
    "cummin": lambda x: torch.cummin(x, 0),
    "cumprod": lambda x: torch.cumprod(x, 1),
    "logcumsumexp": lambda x: torch.logcumsumexp(40 * x, 1),
    "mode": lambda x: torch.mode(x, 1),
    "searchsorted": lambda x: torch.searchsorted(x.sort(1)[0], x + 0.5),
    "searchsorted_right": lambda x: torch.searchsorted(x.sort(1)[0], x, right=True),
    "isin": lambda x: torch.isin(x, torch.tensor([1.0, 3.0]), invert=True),
    "masked_select": lambda x: x.masked_select(x > 0),
    "sort_stable": lambda x: torch.sort(x, dim=1, stable=True, descending=True),
}
ORDER: Functions = {
    "median": torch.median,
    "median_dim": lambda x: torch.median(x, 1),
    "nanmedian": lambda x: torch.nanmedian(torch.where(x > 1, x, float("nan"))),
    "nanmedian_dim": lambda x: torch.nanmedian(x, 1, keepdim=True),
    "kthvalue": lambda x: torch.kthvalue(x, 2, 1),
    "aminmax": torch.aminmax,
    "bincount": lambda x: torch.bincount(x[0].long() + 3, x[0].cos(), minlength=99),
    "scatter_mean": lambda x: x.scatter_reduce(
        1, (x % 2).long(), x, reduce="mean", include_self=False
    ),
    "index_reduce": lambda x: x.index_reduce(1, torch.tensor([0, 0]), x[:, :2], "prod"),
    "scatter_multiply": lambda x: x.scatter(1, (x % 2).long(), x, reduce="multiply"),
    "put": lambda x: x.put(torch.tensor([0, -1]), torch.tensor([7.0, 8.0])),
    "diagonal_scatter": lambda x: x[:2, :2].diagonal_scatter(torch.tensor([7.0, 8.0])),
    "softmax_dtype": lambda x: F.softmax(x, 1, dtype=torch.float64),
    "elu": lambda x: torch.ops.aten.elu(x - 2, 0.7, 1.3, 0.6),
    "rrelu": lambda x: F.rrelu(x - 2),
    "cdist": lambda x: torch.cdist(x, x + 1, p=3.0),
    "fftshift": torch.fft.fftshift,
    "or": lambda x: (x > 1) + (x < 0),
    "where_of_booleans": lambda x: torch.where(x > 1, x > 2, x < 0),
}
WHOLE_NUMBERS: Functions = {
    "gcd": lambda x: torch.gcd(x, x.flip(0)),
    "lcm": lambda x: torch.lcm(x, x.flip(0)),
    "left_shift": lambda x: x << (x % 3),
    "right_shift": lambda x: x >> (x % 3),
    "floor": torch.floor,
    "relu": F.relu,
    "cumprod": lambda x: torch.cumprod(x % 3 + 1, 1),
    "cummax": lambda x: torch.cummax(x, 1),
    "median": torch.median,
    "atan2": lambda x: torch.atan2(x * 0, x),
}


@pytest.mark.parametrize(
    ("functions", "draw", "shape"),
    [
        pytest.param(SPECIAL, normal, ["b", "s"], id="special functions"),
        pytest.param(SPECIAL_POSITIVE, positive, ["b", "s"], id="of positive numbers"),
        pytest.param(INVERSE, inside, ["b", "s"], id="inverse distributions"),
        pytest.param(SIGNS, normal, ["b", "s"], id="signs and remainders"),
        pytest.param(SCANS, ties, ["b", "s"], id="scans and searches"),
        pytest.param(ORDER, distinct, ["b", "s"], id="order statistics and scattering"),
        pytest.param(WHOLE_NUMBERS, integers, ["b", "s"], id="integers"),
    ],
)
def test_a_family_computes_what_eager_computes(
    functions: Functions, draw: Callable[..., Tensor], shape: list[str | int]
) -> None:
    assert_computes_what_eager_computes(functions, draw, shape)
