"""A float64 model's file computes in float64: every translation that holds a constant."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from exporter.convert.double_programs import Call, answers

WIDTH = 8


class OfMatrix(Call):
    """A function of a matrix of ordinary numbers."""

    def __init__(self, name: str, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__(name)
        self._function = function

    @property
    def x(self) -> Tensor:
        generator = torch.Generator().manual_seed(0)
        return 2 * torch.randn(6 * WIDTH, generator=generator, dtype=torch.float64)

    def __call__(self, x: Tensor) -> list[Tensor]:
        return [self._function(x.reshape(6, WIDTH))]


def positive(x: Tensor) -> Tensor:
    return x.abs() + 0.1


def inside(x: Tensor) -> Tensor:
    return x.sigmoid()


def image(x: Tensor) -> Tensor:
    return x.reshape(1, 2, 4, 6)


def heads(x: Tensor) -> Tensor:
    return x.reshape(1, 2, 6, 4)


def square(x: Tensor) -> Tensor:
    return x @ x.mT / 50


def layer_norm_by_hand(x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5) * 1.1 + 0.3


def rms_norm_by_hand(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * 0.7


def gelu_by_hand(x: Tensor) -> Tensor:
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def fast_gelu_by_hand(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))


def attention_by_hand(x: Tensor) -> Tensor:
    return torch.softmax(x @ x.mT / math.sqrt(WIDTH), -1) @ x


NUMBERS: dict[str, Callable[[Tensor], Tensor]] = {
    "deg2rad": torch.deg2rad,
    "rad2deg": torch.rad2deg,
    "log10": lambda x: positive(x).log10(),
    "log2": lambda x: positive(x).log2(),
    "log1p": lambda x: positive(x).log1p(),
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "remainder": lambda x: torch.remainder(x, 0.3),
    "fmod": lambda x: torch.fmod(x, 0.3),
    "floor_divide": lambda x: torch.floor_divide(x, 0.3),
    "pow": lambda x: positive(x) ** 0.7,
    "rpow": lambda x: 0.7**x,
    "add with alpha": lambda x: torch.add(x, x.cos(), alpha=0.3),
    "rsub": lambda x: torch.rsub(x, 0.1, alpha=0.3),
    "lerp": lambda x: torch.lerp(x, x.cos(), 0.3),
    "addcmul": lambda x: torch.addcmul(x, x, x.cos(), value=0.3),
    "addcdiv": lambda x: torch.addcdiv(x, x, positive(x), value=0.3),
    "clamp": lambda x: x.clamp(-0.3, 0.7),
    "nan_to_num": lambda x: positive(x).log().nan_to_num(0.3, 0.7, -0.7),
    "masked_fill": lambda x: x.masked_fill(x > 0, 0.3),
    "full_like": lambda x: x + torch.full_like(x, 0.3),
    "where": lambda x: torch.where(x > 0.1, x, 0.3),
    "logit": lambda x: inside(x).logit(1e-6),
    "xlogy": lambda x: torch.xlogy(x, 0.3),
    "sinc": torch.sinc,
    "logaddexp": lambda x: torch.logaddexp(x, x.cos()),
    "logaddexp2": lambda x: torch.logaddexp2(x, x.cos()),
    "erfinv": lambda x: (2 * inside(x) - 1).erfinv(),
    "lgamma": lambda x: positive(x).lgamma(),
    "digamma": lambda x: positive(x).digamma(),
    "entr": lambda x: torch.special.entr(positive(x)),
    "quantile": lambda x: x.quantile(0.3, -1),
    "std": lambda x: x.std(-1),
    "logcumsumexp": lambda x: x.logcumsumexp(-1),
    "linspace": lambda x: x + torch.linspace(0.1, 0.7, WIDTH, dtype=x.dtype),
    "arange": lambda x: x + torch.arange(0.1, 0.85, 0.1, dtype=x.dtype),
}
LAYERS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu of tanh": lambda x: F.gelu(x, approximate="tanh"),
    "celu": lambda x: F.celu(x, 0.3),
    "elu": lambda x: F.elu(x, 0.3),
    "selu": F.selu,
    "silu": F.silu,
    "mish": F.mish,
    "softplus": lambda x: F.softplus(x, 0.3, 5),
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "hardtanh": lambda x: F.hardtanh(x, -0.3, 0.7),
    "hardshrink": lambda x: F.hardshrink(x, 0.3),
    "softshrink": lambda x: F.softshrink(x, 0.3),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.3),
    "threshold": lambda x: F.threshold(x, 0.3, 0.7),
    "rrelu": F.rrelu,
    "layer_norm": lambda x: F.layer_norm(x, (WIDTH,), eps=1e-5),
    "rms_norm": lambda x: F.rms_norm(x, (WIDTH,), eps=1e-5),
    "rms_norm without eps": lambda x: F.rms_norm(x * 1e-6, (WIDTH,)),
    "batch_norm": lambda x: F.batch_norm(x, x[0] * 0.3, positive(x[1]), eps=1e-3),
    "batch_norm of images": lambda x: F.batch_norm(
        image(x), x[0, :2], positive(x[1, :2]), x[2, :2], x[3, :2], eps=1e-3
    ),
    "normalize": lambda x: F.normalize(x, dim=-1, eps=0.3),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.cos(), -1, 1e-3),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.cos(), eps=1e-3),
    "huber_loss": lambda x: F.huber_loss(x, x.cos(), delta=0.3),
    "gaussian_nll_loss": lambda x: F.gaussian_nll_loss(x, x.cos(), positive(x), full=True),
    "addmm": lambda x: torch.addmm(x[:, :6], x, x.mT, beta=0.2, alpha=0.6),
    "addmv": lambda x: torch.addmv(x[:, 0], x, x[0], beta=0.2, alpha=0.6),
    "baddbmm": lambda x: torch.baddbmm(x[None, :, :6], x[None], x.mT[None], beta=0.2, alpha=0.6),
    "addr": lambda x: torch.addr(x, x[:, 0], x[0], beta=0.2, alpha=0.6),
    "matrix_exp": lambda x: torch.matrix_exp(square(x)),
    "attention": lambda x: F.scaled_dot_product_attention(heads(x), heads(x), heads(x)),
    "attention with a scale": lambda x: F.scaled_dot_product_attention(
        heads(x), heads(x), heads(x), is_causal=True, scale=0.3
    ),
    "antialias": lambda x: F.interpolate(image(x), (7, 4), mode="bilinear", antialias=True),
    "antialias of cubes": lambda x: F.interpolate(image(x), (3, 9), mode="bicubic", antialias=True),
    "layer norm by hand": layer_norm_by_hand,
    "rms norm by hand": rms_norm_by_hand,
    "gelu by hand": gelu_by_hand,
    "fast gelu by hand": fast_gelu_by_hand,
    "attention by hand": attention_by_hand,
    "a quarter of a product, twice": lambda x: (x @ x.mT / 3.0) @ (x * 0.1),
}


def differences(functions: dict[str, Callable[[Tensor], Tensor]], opset: int) -> dict[str, str]:
    calls = [OfMatrix(name, function) for name, function in functions.items()]
    return {answer.name: answer.difference for answer in answers(calls, opset) if answer.difference}


@pytest.mark.parametrize(
    ("functions", "opset"),
    [(NUMBERS, 20), (LAYERS, 20), (LAYERS, 23)],
    ids=["numbers", "layers", "layers of opset 23"],
)
def test_constants_have_double_precision(
    functions: dict[str, Callable[[Tensor], Tensor]], opset: int
) -> None:
    assert not differences(functions, opset)


RANDOM = frozenset(
    {"exponential", "geometric", "log_normal", "normal.in_place", "nn.functional.rrelu"}
)
DIFFERENT = {
    **dict.fromkeys(RANDOM, "draws random numbers"),
    "as_strided": "reads the storage of the sweep's own input, in which all samples lie",
    "nn.functional.batch_norm": "updates statistics, which lie in the sweep's own input, too",
    "native_layer_norm": "mean and deviation, which no layer returns, are float32",
    "nn.functional.soft_margin_loss": "log(1 + exp(-x)) is 1e-16 off where the loss is 1e-16",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu": "a kernel of torch's own",
    "stft": "2e-12 where frequencies cancel: a discrete transform of 10 points",
}
"""Operators of torch's database whose files compute otherwise, and why that is left so."""


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_all_operators_of_torchs_database_have_double_precision() -> None:
    """What onnxruntime has no kernel of float64 for is refused, which is another matter."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter.convert.double_sweep"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout[done.stdout.index("{") :])
    assert found["calls"] > 500
    assert not {name: text for name, text in found["differing"].items() if name not in DIFFERENT}
    assert len(found["failed"]) < found["calls"] / 4, found["failed"]
    assert len(found["translated"]) > 200
