"""Every operator of the library through export, at other sizes than those of the capture.

The operators of a family are the outputs of one model, so that each is exported once and quickly.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.dynamo import finish, translate
from modelexport_exporter.plugins.contents import Contents
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.plugins.symbolics import SymbolicWatch

Functions = dict[str, Callable[[Tensor], object]]
special, linalg = torch.special, torch.linalg


def normal(*shape: int) -> Tensor:
    return 4 * torch.randn(shape)


def positive(*shape: int) -> Tensor:
    return 6 * torch.rand(shape) + 0.1


def inside(*shape: int) -> Tensor:
    return torch.rand(shape).clamp(0.001, 0.999)


def ties(*shape: int) -> Tensor:
    """Small whole numbers, also negative, each of them several times."""
    return torch.randint(-4, 5, shape).float()


def distinct(*shape: int) -> Tensor:
    return torch.randperm(int(np.prod(shape))).reshape(shape).float() - 3


def integers(*shape: int) -> Tensor:
    return torch.randint(-30, 31, shape)


def regular(*shape: int) -> Tensor:
    return torch.randn(shape) + 3 * torch.eye(shape[-1])


def _classes(x: Tensor) -> Tensor:
    return x.argmin(1)


def _round_trip(x: Tensor) -> Tensor:
    signal = torch.cat([x, 2 * x, -x, x, x + 1, x, x, 3 * x], 1)
    window = torch.hann_window(8)
    spectrum = torch.stft(signal, 8, 4, window=window, return_complex=True)
    return torch.istft(spectrum, 8, 4, window=window)


def _in_groups(x: Tensor) -> Tensor:
    """Multiply the first row by one matrix, none by the next, and the rest by the last."""
    rows = torch.cat([x, x], 1)[:, :4].contiguous()
    ends = torch.tensor([1, 1, 0]) + torch.tensor([0, 0, 1]) * (x[:, 0] == x[:, 0]).sum()
    return F.grouped_mm(rows, torch.arange(48.0).reshape(3, 4, 4), offs=ends.int())


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
MATRICES: Functions = {
    "cholesky": lambda a: linalg.cholesky(a @ a.mT),
    "cholesky_solve": lambda a: torch.cholesky_solve(a, linalg.cholesky(a @ a.mT)),
    "inv": linalg.inv,
    "solve": lambda a: linalg.solve(a, a[..., :2] + 1),
    "solve_right": lambda a: linalg.solve(a, a + 1, left=False),
    "solve_triangular": lambda a: linalg.solve_triangular(a, a + 1, upper=True),
    "slogdet": linalg.slogdet,
    "logdet": lambda a: torch.logdet(a @ a.mT),
    "lu": linalg.lu,
    "qr": linalg.qr,
    "matrix_power": lambda a: linalg.matrix_power(a, -2),
    "matrix_power_0": lambda a: linalg.matrix_power(a, 0),
    "matrix_exp": linalg.matrix_exp,
    "pinv": linalg.pinv,
}
IMAGES: Functions = {
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=4),
    "avg_pool2d_ceil": lambda x: F.avg_pool2d(x, 2, 3, 1, ceil_mode=True, divisor_override=3),
    "avg_pool3d": lambda x: F.avg_pool3d(x, (1, 2, 2), divisor_override=3),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x[:, None, :, :4], (1, 2, 3)),
    "cropped": lambda x: F.interpolate(
        x[..., : min(x.shape[2:]), : min(x.shape[2:])], (4, 4), mode="bilinear", antialias=True
    ),
    "attention": lambda x: F.scaled_dot_product_attention(x[0], x[0], x[0], is_causal=True),
}
LOSSES: Functions = {
    "smoothed": lambda x: F.cross_entropy(x, _classes(x), label_smoothing=0.1),
    "smoothed_weighted": lambda x: F.cross_entropy(
        x, _classes(x), torch.tensor([1.0, 2.0, 3.0]), ignore_index=1, label_smoothing=0.1
    ),
    "probabilities": lambda x: F.cross_entropy(x, x.softmax(1)),
    "binary": lambda x: F.binary_cross_entropy_with_logits(40 * x, x.softmax(1)),
    "istft": _round_trip,
}


def _spectral(x: Tensor) -> Tensor:
    """Weigh the lowest frequencies, as neural operators do."""
    spectrum = torch.fft.rfft2(x)
    weights = torch.polar(torch.ones(2, 3, 2, 2), torch.arange(24.0).reshape(2, 3, 2, 2))
    kept = torch.zeros(x.shape[0], 3, *spectrum.shape[2:], dtype=torch.cfloat)
    kept[:, :, :2, :2] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :2, :2], weights)
    result: Tensor = torch.fft.irfft2(kept, s=(x.size(-2), 6))
    return result


def _rotary(x: Tensor) -> Tensor:
    """Turn pairs by angles that are looked up, as in the first Llama."""
    angles = torch.outer(torch.arange(40.0), torch.tensor([1.0, 0.1, 0.01]))
    turns = torch.polar(torch.ones_like(angles), angles)
    position = torch.arange(x.shape[2]).flip(0)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], 3, 2))
    turned = pairs * turns[position].unsqueeze(0).unsqueeze(1)
    return torch.view_as_real(turned).flatten(3)


def _signal(x: Tensor) -> Tensor:
    """Return what a diagonal state space's kernel does to a signal."""
    state = torch.exp((-0.5 + 1j * torch.arange(3.0)).unsqueeze(-1) * torch.arange(6.0))
    kernel = torch.einsum("n,nl->l", torch.tensor([1 + 1j, 2.0, -1j]), state).real * 2
    product = torch.fft.rfft(x, n=12) * torch.fft.rfft(kernel, n=12)
    result: Tensor = torch.fft.irfft(product, n=12)
    return result[..., :6]


COMPLEX: Functions = {
    "spectral": _spectral,
    "rotary": _rotary,
    "signal": _signal,
    "masked": lambda x: torch.fft.fft(x).masked_fill(x > 0, 0).abs(),
}
SIZES: Functions = {
    "linspace": lambda x: torch.linspace(0, 1, x.shape[1]),
    "chunk": lambda x: x.chunk(2, 1)[0],
    "tensor_split": lambda x: x.tensor_split(2, 1)[0],
    "tril_indices": lambda x: torch.tril_indices(x.shape[0], x.shape[1]),
    "take_along_dim": lambda x: torch.take_along_dim(x, x.argsort(1), 1),
    "cov": torch.cov,
    "norm": lambda x: linalg.norm(x, keepdim=True),
    "repeat_interleave": lambda x: x[:, :2].repeat_interleave(
        torch.tensor([1, 3]), 1, output_size=4
    ),
    "grouped_mm": _in_groups,
    "matrix_norm": lambda x: linalg.matrix_norm(x, 1),
    "fill_diagonal": lambda x: x.clone().fill_diagonal_(3.0),
    "gaussian_nll": lambda x: F.gaussian_nll_loss(x, 2 * x, x.abs() + 0.1),
    "rfft": lambda x: torch.fft.rfft(x, n=8).abs(),
}
OPEN_MATRICES: Functions = {
    "inv": linalg.inv,
    "solve": lambda a: linalg.solve(a, a + 1),
    "solve_triangular": lambda a: linalg.solve_triangular(a, a + 1, upper=False),
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
        pytest.param(MATRICES, regular, ["b", 4, 4], id="matrices"),
        pytest.param(OPEN_MATRICES, regular, ["s", "s"], id="matrices of any size"),
        pytest.param(IMAGES, normal, ["b", 2, "s", 6], id="images"),
        pytest.param(COMPLEX, normal, ["b", 2, "s", 6], id="complex numbers"),
        pytest.param(LOSSES, normal, ["b", 3], id="losses"),
        pytest.param(SIZES, normal, ["b", "s"], id="dynamic sizes"),
    ],
)
def test_a_family_computes_what_eager_computes(
    functions: Functions, draw: Callable[..., Tensor], shape: list[str | int]
) -> None:
    model = _Outputs(functions)
    torch.manual_seed(3)
    dtype = "int64" if draw is integers else "float32"
    session = _exported(model, shape, dtype)
    for sizes in ({"b": 4, "s": 7}, {"b": 6, "s": 5}, {"b": 3, "s": 11}):
        x = draw(*(sizes[size] if isinstance(size, str) else size for size in shape))
        expected = model(x)
        found = session.run(None, {"x": x.numpy()})
        owners = [name for name, function in functions.items() for _ in _listed(function(x))]
        wrong = {
            owner: problem
            for owner, want, array in zip(owners, expected, found, strict=True)
            if (problem := _difference(want, array))
        }
        assert not wrong, (sizes, wrong)


def test_a_program_without_such_operators_is_left_as_it_is() -> None:
    from modelexport_exporter.decompositions import rewrite_program

    program = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
    assert rewrite_program(program, ()) is program


@pytest.mark.parametrize("disabled", ["*", "aten::erfinv"])
def test_a_disabled_operator_is_left_to_torch_onnx(disabled: str) -> None:
    from modelexport_exporter.decompositions import rewrite_program

    program = torch.export.export(_Outputs({"y": torch.erfinv}), (torch.rand(3),))
    assert rewrite_program(program, [disabled]) is program


class _Outputs(torch.nn.Module):
    """A model with one output (or several) for each function."""

    def __init__(self, functions: Functions) -> None:
        super().__init__()
        self._functions = functions

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        outputs: list[Tensor] = []
        for function in self._functions.values():
            outputs += _listed(function(x))
        return tuple(outputs)


def _exported(
    model: torch.nn.Module, shape: list[str | int], dtype: str
) -> onnxruntime.InferenceSession:
    spec = ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///model.pt"},
            "model": {"factory": "model:build"},
            "inputs": [{"name": "x", "dtype": dtype, "shape": shape}],
            "dims": {d: {"min": 2, "max": 16} for d in shape if isinstance(d, str)},
            "destination": {"uri": "file:///out/"},
        }
    )
    bound_inputs = bind_inputs(spec, model, None)
    program = capture(model, bound_inputs, None)
    plugins = Plugins(spec, None, Contents(), SymbolicWatch())
    translation = translate(program, bound_inputs.spec, plugins, None)
    converted = finish(translation, optimize=True)
    file = io.BytesIO(ir.serde.serialize_model(converted).SerializeToString())
    return onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])


def _difference(expected: Tensor, found: np.ndarray) -> str:
    want = expected.detach().numpy()
    if want.dtype != found.dtype or want.shape != found.shape:
        return f"{want.dtype}{want.shape} != {found.dtype}{found.shape}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(want, found) else f"{(want != found).mean():.0%} differ"
    finite = np.isfinite(want)
    if not np.array_equal(want[~finite], found[~finite], equal_nan=True):
        return "NaN or infinity differs"
    if not finite.any():
        return ""
    error = np.abs(want[finite] - found[finite]).max()
    return "" if error <= 1e-4 * np.abs(want[finite]).max() else f"off by {error}"


def _listed(result: object) -> list[Tensor]:
    return [result] if isinstance(result, Tensor) else list(cast("tuple[Tensor, ...]", result))
