"""Which ATen operators ONNX has, and from which opset on: derived from onnx's own schemas.

Most have the same name but for case and underscores; the table holds those that do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import onnx.defs

_OTHER_NAMES = {
    "_scaled_dot_product_attention": "Attention",
    "adaptive_avg_pool": "GlobalAveragePool",
    "affine_grid_generator": "AffineGrid",
    "argsort": "TopK",
    "avg_pool": "AveragePool",
    "batch_norm": "BatchNormalization",
    "bernoulli": "Bernoulli",
    "bitwise_left_shift": "BitShift",
    "bitwise_right_shift": "BitShift",
    "blackman_window": "BlackmanWindow",
    "bmm": "MatMul",
    "clamp": "Clip",
    "col2im": "Col2Im",
    "conv_transpose": "ConvTranspose",
    "convolution": "Conv",
    "cumprod": "CumProd",
    "cumsum": "CumSum",
    "deform_conv": "DeformConv",
    "det": "Det",
    "fft_fft": "DFT",
    "fft_ifft": "DFT",
    "fft_irfft": "DFT",
    "fft_rfft": "DFT",
    "fold": "Col2Im",
    "gather": "GatherElements",
    "ge": "GreaterOrEqual",
    "grid_sampler": "GridSample",
    "gt": "Greater",
    "hamming_window": "HammingWindow",
    "hann_window": "HannWindow",
    "hardshrink": "Shrink",
    "index_put": "ScatterND",
    "le": "LessOrEqual",
    "linalg_det": "Det",
    "linear": "Gemm",
    "lt": "Less",
    "max_unpool": "MaxUnpool",
    "multinomial": "Multinomial",
    "native_group_norm": "GroupNormalization",
    "native_layer_norm": "LayerNormalization",
    "nll_loss": "NegativeLogLikelihoodLoss",
    "nms": "NonMaxSuppression",
    "repeat": "Tile",
    "rms_norm": "RMSNormalization",
    "roi_align": "RoiAlign",
    "roi_pool": "MaxRoiPool",
    "scaled_dot_product_attention": "Attention",
    "scatter": "ScatterElements",
    "silu": "Swish",
    "softshrink": "Shrink",
    "special_softmax": "Softmax",
    "stft": "STFT",
    "tril": "Trilu",
    "triu": "Trilu",
    "unique_dim": "Unique",
    "upsample": "Resize",
}
_DIMENSIONS = ("1d", "2d", "3d")


@dataclass(frozen=True)
class OnnxOperator:
    """An operator of the ONNX standard."""

    name: str
    since: int
    """The opset that brought it."""


def find_standard(aten: str) -> OnnxOperator | None:
    """Return the ONNX operator that does what `aten::det.default` does, if there is one."""
    namespace, _, rest = aten.partition("::")
    if namespace not in {"aten", "prims", "torchvision"}:
        return None
    base = rest.partition(".")[0].rstrip("_")
    for name in _candidates(base):
        found = _schemas().get(_OTHER_NAMES.get(name, name).replace("_", "").lower())
        if found is not None:
            return found
    return None


def _candidates(base: str) -> list[str]:
    names = [base, base.removeprefix("_"), base.removeprefix("special_")]
    return names + [
        name.removesuffix(suffix).rstrip("_")
        for name in names
        for suffix in _DIMENSIONS
        if name.endswith(suffix)
    ]


@cache
def _schemas() -> dict[str, OnnxOperator]:
    first: dict[str, int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain:
            first[schema.name] = min(schema.since_version, first.get(schema.name, 10**6))
    return {name.lower(): OnnxOperator(name, since) for name, since in first.items()}
