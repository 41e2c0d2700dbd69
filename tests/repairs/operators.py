"""For each decomposed overload, calls of it that torch.onnx alone gets wrong or refuses."""

from __future__ import annotations

import torch
import transformers.integrations.moe  # noqa: F401 (defines an operator)

from repairs.check import Call

TORCHSCRIPT = 17
"""The newest opset that the TorchScript route alone writes."""


def call(*args: object, **kwargs: object) -> Call:
    return Call(args, kwargs)


def script(*args: object) -> Call:
    """Return a call that fails on the TorchScript route only."""
    return Call(args, opset=TORCHSCRIPT)


def double(*args: object) -> Call:
    """Return a call in float64; torch.onnx writes Python numbers in float32."""
    return Call(args, rounding=1e-7)


def narrow(*args: object) -> Call:
    """Return a call in float64 whose error is that of an attribute in float32."""
    return Call(args, rounding=1e-11)


def of(names: str, *calls: Call, prefix: str = "aten::", suffix: str = "") -> dict[str, list[Call]]:
    return {f"{prefix}{name}{suffix}": list(calls) for name in names.split()}


INF, NAN = float("inf"), float("nan")
X = torch.tensor([[0.3, -1.7, 2.2], [0.9, 4.1, -0.6]])
POSITIVE = X.abs() + 0.1
SMALL = torch.tensor([1e-6, -3e-6, 2e-5])
DOUBLE = X.double()
STATISTICS = (None, None, torch.zeros(3).double(), torch.full([3], 1e-6).double())
WITH_INF = torch.tensor([INF, -INF, 1.0, -2.0])
WITH_NAN = torch.tensor([NAN, -0.0, 3.0, -2.0])
WIDE = torch.tensor([20.0, 25.0, 30.0])
FAR = torch.tensor([-200.0, 0.5, 200.0])
HALF = torch.tensor([0.0, 1.0, 6e4, -7.5, INF], dtype=torch.float16)
TENS = torch.arange(1.0, 2000.0, 37.0, dtype=torch.float16)
TENTHS = torch.arange(0.0, 1.0, 0.1, dtype=torch.float32).half()
INTS = torch.tensor([[4, -6, 9], [3, 8, -5]])
BOOLS, OTHER_BOOLS = X > 0, X > 1
BYTES = torch.tensor([[0, 3, 1], [0, 0, 2]], dtype=torch.uint8)
SHORTS = torch.tensor([[-32768, 3, 1], [32767, -1, 2]], dtype=torch.int16)
PLACES = torch.tensor([[4, 0, 15], [1, 8, 20]], dtype=torch.int8)
BAGS_OF_32_BITS = (torch.tensor([1, 0, 0, 1], dtype=torch.int32), torch.tensor([0, 3]).int())
SQUARE = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])
SIGNAL = torch.arange(20.0).reshape(1, 2, 10)
IMAGE = torch.arange(2.0 * 7 * 9).reshape(1, 2, 7, 9).sin()
DOUBLE_IMAGE, DOUBLE_SIGNAL = IMAGE.double(), SIGNAL.double().sin()
WIDE_IMAGE = torch.arange(6.0 * 7 * 9).reshape(1, 6, 7, 9).sin().double()
WHOLE_IMAGE = (IMAGE * 90).long()
KERNEL = torch.arange(6.0 * 2 * 3 * 3).reshape(6, 2, 3, 3).cos().double()
BIASES = torch.arange(6.0).double()
ZERO_POINTS = torch.tensor([1, -2, 0], dtype=torch.int32)
VOLUME = torch.arange(2.0 * 5 * 7 * 9).reshape(1, 2, 5, 7, 9).sin()
INDEX = torch.tensor([[0, 1, 0], [1, 0, 0]])
LOGITS = torch.tensor([[0.3, -1.7, 2.2, 0.1], [0.9, 4.1, -0.6, 300.0]])
CLASSES = torch.tensor([2, 0])
ONE_SIZED = X[:, None]
QUERY = torch.arange(24.0).reshape(2, 4, 3).sin()
QUERY_4D = QUERY[None]
BLIND = torch.zeros(4, 4, dtype=torch.bool).index_fill(0, torch.tensor([0, 2]), True)
SPECTRUM = torch.view_as_real(
    torch.stft(torch.arange(32.0).sin(), 8, 4, window=torch.hann_window(8), return_complex=True)
)
ROWS = torch.arange(24.0).reshape(6, 4).cos()
EXPERTS = torch.arange(48.0).reshape(3, 4, 4).sin()
ENDS = torch.tensor([2, 3, 6], dtype=torch.int32)


TIES = torch.linspace(-1.75, 1.75, 15)
GRID = torch.stack(torch.meshgrid(TIES, TIES, indexing="xy"), -1)[None]
PLACES_3D = torch.arange(54.0).reshape(1, 2, 3, 3, 3).sin()


CALLS: dict[str, list[Call]] = {
    # Activations
    **of("elu", call(X, 0.7, 1.3, 0.6), script(DOUBLE)),
    **of("log_sigmoid", call(FAR)),
    **of("rrelu", call(X)),
    **of("softmax.int log_softmax.int", call(X, 1, torch.float64)),
    # Grid sampling
    **of("grid_sampler grid_sampler_2d", call(IMAGE[..., :4, :6], GRID, 1, 2, False)),
    **of("grid_sampler_3d", call(VOLUME, PLACES_3D, 0, 0, False)),
    # Padding
    **of("pad", call(X, [-3, 4], "replicate")),
    # Numbers beyond float16
    **of("mul.Tensor div.Tensor", call(HALF, 1e-8), call(HALF, 3e5), narrow(TENS, 0.7)),
    **of("eq ne lt ge", call(TENTHS, 0.1), suffix=".Scalar"),
    **of("le gt", call(TENTHS, 0.3), suffix=".Scalar"),
    **of("sum", call(X.half())),
    **of("sum.dim_IntList", call(X.half(), [1], True)),
    **of(
        "cosine_similarity",
        call(X.half(), X.half().roll(1, 1)),
        call(X.half() * 0, X.half()),
    ),
    # Resizing
    **of(
        "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
        call(IMAGE, [4, 5], True),
        call(IMAGE, [4, 5], False, 0.5, 0.5),
    ),
    **of(
        "_upsample_bilinear2d_aa.vec _upsample_bicubic2d_aa.vec",
        call(IMAGE, None, False, [0.4, 0.7]),
    ),
    **of("upsample_nearest1d", script(torch.arange(28.0).reshape(1, 2, 14), [2])),
    **of("upsample_nearest1d.vec", call(torch.arange(28.0).reshape(1, 2, 14), [2], None)),
    **of("upsample_nearest2d", script(torch.arange(196.0).reshape(1, 1, 14, 14), [2, 2])),
    **of("upsample_nearest2d.vec", call(torch.arange(196.0).reshape(1, 1, 14, 14), [2, 2], None)),
    **of("upsample_nearest3d", script(torch.arange(196.0).reshape(1, 1, 1, 14, 14), [1, 2, 2])),
    **of(
        "upsample_nearest3d.vec",
        call(torch.arange(196.0).reshape(1, 1, 1, 14, 14), [1, 2, 2], None),
    ),
    # A size that stays: torch copies.
    **of("upsample_linear1d.vec", call(torch.arange(16.0).reshape(1, 2, 8), None, False, [1.1])),
    **of(
        "upsample_bilinear2d.vec upsample_bicubic2d.vec",
        call(torch.arange(100.0).reshape(1, 1, 50, 2), None, False, [0.58, 1.0]),
    ),
    **of(
        "upsample_trilinear3d.vec",
        call(torch.arange(100.0).reshape(1, 1, 50, 2, 1), None, False, [0.58, 1.0, 1.0]),
    ),
    # Bessel functions
    **of(
        "special_bessel_j0 special_bessel_j1 special_i0e i0 special_modified_bessel_i0 special_i1e "
        "special_i1 special_modified_bessel_i1 special_spherical_bessel_j0 special_airy_ai",
        call(X),
    ),
    **of(
        "special_bessel_y0 special_bessel_y1 special_scaled_modified_bessel_k0 "
        "special_scaled_modified_bessel_k1 special_modified_bessel_k0 special_modified_bessel_k1",
        call(POSITIVE),
    ),
    # Clamping
    **of("clamp", call(WITH_INF, 0.5), call(WITH_INF, 0, 1.0), call(BYTES, -1, 1)),
    **of("clamp.Tensor", script(WITH_INF, torch.tensor(0.5))),
    **of("clamp_min", call(WITH_INF, 0.5)),
    **of("clamp_max", call(WITH_INF, 0.5)),
    **of("clamp_min.Tensor clamp_max.Tensor", call(WITH_INF, torch.tensor(0.5))),
    # Cumulative
    **of("cummax cummin cumprod", call(X, 1)),
    **of("logcumsumexp", call(torch.tensor([-200.0, 0.0, 200.0]), 0)),
    # Divisions
    **of("fmod.Tensor", call(torch.tensor([2**53 + 1, -(2**53) - 1]), torch.tensor([4, 4]))),
    **of("fmod.Scalar", call(torch.tensor([2**53 + 1, -(2**53) - 1]), 4)),
    **of("remainder.Tensor", call(torch.tensor([1.0, -1.0]), torch.tensor([0.1, 0.1]))),
    **of("remainder.Scalar", call(torch.tensor([1.0, -1.0]), 0.1)),
    **of("remainder.Scalar_Tensor", call(1.0, torch.tensor([0.1, -0.3]))),
    **of("floor_divide", call(torch.tensor([1.0, 6.0]), torch.tensor([0.1, -0.3]))),
    **of("floor_divide.Scalar", call(torch.tensor([1.0, 6.0]), 0.1)),
    **of(
        "div.Tensor_mode",
        call(torch.tensor([1.0]), torch.tensor([0.1]), rounding_mode="floor"),
    ),
    **of("div.Scalar_mode", call(torch.tensor([1.0]), 0.1, rounding_mode="floor")),
    **of("gcd lcm", call(INTS, INTS.flip(0))),
    **of("__lshift__.Tensor __rshift__.Tensor", call(INTS.abs(), INDEX)),
    **of(
        "bitwise_left_shift.Tensor bitwise_right_shift.Tensor",
        call(BYTES, BYTES),
        call(SHORTS, PLACES),
    ),
    **of(
        "bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar",
        call(BYTES, 7),
        call(SHORTS, 7),
    ),
    **of("bitwise_left_shift.Scalar_Tensor bitwise_right_shift.Scalar_Tensor", call(9, BYTES)),
    **of("__lshift__.Scalar __rshift__.Scalar", call(BYTES, 1)),
    **of(
        "bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar "
        "__and__.Scalar __or__.Scalar __xor__.Scalar",
        Call((INTS,), open_dims=(0,)),
    ),
    **of("floor ceil trunc round", call(INTS)),
    **of("relu", script(INTS)),
    **of("rsub.Scalar", call(INTS, 1.0)),
    # Error functions
    **of("erfinv", call(X / 5)),
    **of("special_erfcx special_log_ndtr", call(FAR / 10)),
    **of("special_ndtri", call(POSITIVE / 5)),
    **of("erfc", call(POSITIVE + 3), double(DOUBLE)),
    # Double precision
    **of("erf gelu tan atan sinh cosh asinh", double(DOUBLE)),
    **of("asin acos atanh", double(DOUBLE / 5)),
    **of("acosh", double(DOUBLE.abs() + 1)),
    **of("celu", call(DOUBLE, 1.3)),
    **of("layer_norm", call(DOUBLE * 1e-3, [DOUBLE.shape[-1]])),
    **of("rms_norm", call(DOUBLE * 1e-3, [DOUBLE.shape[-1]])),
    **of("group_norm", call(WIDE_IMAGE, 3, None, None)),
    **of("instance_norm", call(DOUBLE_IMAGE, None, None, None, None, True, 0.1, 1e-5, True)),
    **of("conv1d", call(DOUBLE_SIGNAL, KERNEL[:, :, 0]), call(DOUBLE_SIGNAL[0], KERNEL[:, :, 0])),
    **of("conv1d.padding", call(DOUBLE_SIGNAL, KERNEL[:, :, 0, :2], None, [1], "same")),
    **of(
        "conv2d",
        call(DOUBLE_IMAGE, KERNEL, BIASES, [2, 1], [1, 2], [1, 2]),
        call(WIDE_IMAGE, KERNEL, None, [1, 1], [0, 0], [1, 1], 3),
        call(WHOLE_IMAGE, (KERNEL * 9).long(), None, [2, 1], [1, 2], [1, 2]),
    ),
    **of("conv2d.padding", call(DOUBLE_IMAGE, KERNEL, None, [1, 1], "valid", [2, 2])),
    **of("conv3d", call(DOUBLE_IMAGE[:, :, None], KERNEL[:, :, None])),
    **of("conv3d.padding", call(DOUBLE_IMAGE[:, :, None], KERNEL[:, :, None], None, [1], "same")),
    **of(
        "convolution",
        call(DOUBLE_IMAGE, KERNEL, BIASES, [2, 2], [1, 1], [1, 1], False, [0, 0], 1),
        call(WIDE_IMAGE, KERNEL, None, [2, 3], [1, 1], [1, 2], True, [1, 0], 1),
        call(WIDE_IMAGE, KERNEL, None, [2, 2], [3, 2], [1, 1], True, [0, 1], 3),
        call(WIDE_IMAGE.float(), KERNEL.float(), None, [1, 2], [3, 2], [2, 1], True, [1, 0], 3),
        call(WHOLE_IMAGE, (KERNEL[:2] * 9).long(), None, [2, 2], [1, 1], [1, 1], True, [0, 0], 1),
    ),
    **of("prelu", Call((DOUBLE_IMAGE, BIASES[1:3]), opset=20)),
    **of("_prelu_kernel", Call((DOUBLE_IMAGE, BIASES[1:3].reshape(1, 2, 1, 1)), opset=20)),
    **of(
        "batch_norm",
        narrow(DOUBLE, *STATISTICS, False, 0.1, 1e-5, True),
        call(X, None, None, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5, True),
    ),
    **of(
        "_native_batch_norm_legit_functional",
        call(X, None, None, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5),
    ),
    **of("_native_batch_norm_legit_no_training", narrow(DOUBLE, *STATISTICS, 0.1, 1e-5)),
    **of("softplus mish selu leaky_relu hardsigmoid hardswish", script(DOUBLE)),
    # Element types
    **of("isnan isfinite nansum", call(INTS)),
    **of("view.dtype", call((INTS * 77).to(torch.uint8), torch.int8)),
    **of("max.dim min.dim sort argsort", call(BOOLS, 1)),
    **of("amax amin", call(X), call(torch.tensor(2.0))),
    **of("any all", call(BYTES)),
    **of("_is_all_true _is_any_true", call(X > 0)),
    **of("any.dim all.dim", call(BYTES, 1)),
    # Exponentials
    **of("expm1 log1p", call(SMALL)),
    **of("log2", call(2 ** torch.arange(-20.0, 30.0))),
    **of("log10", call(10 ** torch.arange(-20.0, 20.0, dtype=torch.float64))),
    **of("special_xlog1py", call(SMALL.flip(0), SMALL), call(WITH_NAN, SMALL[:1])),
    **of("soft_margin_loss", call(WIDE, torch.ones(3)), call(WIDE, torch.ones(3), 0)),
    # FFT
    **of("fft_fftfreq fft_rfftfreq", call(7)),
    **of("roll", Call((X,), open_dims=(0,))),
    **of("istft", call(torch.view_as_complex(SPECTRUM), 8, 4, None, torch.hann_window(8))),
    # Gamma functions
    **of("lgamma digamma", call(POSITIVE)),
    **of("special_zeta", call(POSITIVE + 1.5, POSITIVE)),
    **of("special_zeta.other_scalar", call(POSITIVE + 1.5, 2.0)),
    **of("special_zeta.self_scalar", call(2.5, POSITIVE)),
    **of("polygamma", call(1, POSITIVE), call(3, X)),
    **of("igamma igammac special_gammainc special_gammaincc", call(POSITIVE, POSITIVE.flip(0))),
    **of("mvlgamma", call(POSITIVE + 3, 2)),
    # Grouped products
    **of("_grouped_mm", call(ROWS, EXPERTS, ENDS)),
    **of("grouped_mm_fallback", call(ROWS, EXPERTS, ENDS), prefix="transformers::"),
    # Losses and attention
    **of(
        "cross_entropy_loss",
        call(LOGITS, CLASSES, None, 1, -100, 0.1),
        call(LOGITS, LOGITS.softmax(1)),
        call(LOGITS[0], CLASSES[0]),
    ),
    **of("binary_cross_entropy_with_logits", call(FAR, torch.tensor([1.0, 0.3, 0.0]))),
    **of(
        "scaled_dot_product_attention",
        call(QUERY_4D, QUERY_4D, QUERY_4D, BLIND),
        call(QUERY, QUERY, QUERY),
    ),
    **of("_scaled_dot_product_flash_attention_for_cpu", call(QUERY_4D, QUERY_4D, QUERY_4D)),
    # Products that are added
    **of("addmv", call(X[0] * NAN, SQUARE, X[1], beta=0)),
    **of(
        "addmm",
        call(INTS[0], SQUARE.long(), SQUARE.long()),
        call(INTS, INTS, SQUARE.long(), beta=2.7, alpha=-1.6),
        call(X, torch.ones(X.shape[0], 0), torch.ones(0, X.shape[1]), beta=0.2),
    ),
    **of("linear", call(torch.ones(3, 4, 0), torch.ones(5, 0), torch.ones(5))),
    **of("baddbmm", call(SQUARE[None] * NAN, SQUARE[None], SQUARE[None], beta=0)),
    **of("addbmm", call(SQUARE * NAN, SQUARE[None], SQUARE[None], beta=0)),
    # Pooling
    **of("avg_pool1d", call(DOUBLE_SIGNAL, [3], [2], [1], False, False)),
    **of(
        "avg_pool2d",
        call(IMAGE, [3, 3], [2, 2], 1, False, True, 4),
        call(DOUBLE_IMAGE, [3, 2], [2, 2], [1, 1]),
        call(DOUBLE_IMAGE, [3, 2], [2, 2], [1, 1], True, False),
        call(WHOLE_IMAGE, [3, 2], [2, 2], [1, 1], True, False),
        call(WHOLE_IMAGE, [3, 2], [2, 2], [1, 1], False, True, 4),
    ),
    **of(
        "avg_pool3d",
        call(VOLUME, [2, 2, 2], [2, 2, 2], 0, False, True, 3),
        call(VOLUME.double(), [2, 2, 2], [2, 1, 1], [1, 1, 1], False, False),
    ),
    # Fake quantization
    **of("fake_quantize_per_tensor_affine", call(WITH_NAN, 0.25, 1, -8, 7)),
    **of(
        "fake_quantize_per_tensor_affine.tensor_qparams",
        call(X, torch.tensor(0.3), torch.tensor(1, dtype=torch.int32), 0, 15),
    ),
    **of("fake_quantize_per_channel_affine", call(X, SMALL.abs() * 1e5, ZERO_POINTS, 1, -8, 7)),
    **of(
        "max_pool2d_with_indices",
        call(WHOLE_IMAGE, [3, 2], [2, 2], [1, 1], [2, 1], True),
        Call((WHOLE_IMAGE.int(), [3, 3], [1, 1], [1, 1]), open_dims=(2, 3)),
    ),
    **of("pixel_shuffle", call((WIDE_IMAGE[:, :4] * 90).long(), 2)),
    **of("max_pool2d", call(WHOLE_IMAGE, [3, 2], [2, 2], [1, 1], [2, 1], True)),
    **of("max_pool3d", call(WHOLE_IMAGE[:, :, None], [1, 2, 3], [1, 2, 1])),
    **of("max_pool3d_with_indices", call(WHOLE_IMAGE[:, :, None], [1, 2, 3], [1, 2, 1])),
    **of("adaptive_avg_pool1d", script(SIGNAL, [3]), Call((SIGNAL, [3]), open_dims=(2,))),
    **of("adaptive_max_pool1d", call(SIGNAL, [3])),
    **of("adaptive_avg_pool2d", script(IMAGE, [3, 4]), Call((IMAGE, [3, 4]), open_dims=(2, 3))),
    **of("_adaptive_avg_pool2d", Call((IMAGE, [3, 4]), open_dims=(2, 3))),
    **of("adaptive_max_pool2d", call(IMAGE, [3, 4])),
    **of("adaptive_avg_pool3d _adaptive_avg_pool3d adaptive_max_pool3d", call(VOLUME, [2, 3, 4])),
    # Order statistics
    **of("median nanmedian", call(X)),
    **of("median.dim nanmedian.dim mode", call(X, 1)),
    **of("kthvalue", call(X, 2, 1)),
    **of("topk", call(torch.tensor(2.0), 1)),
    **of("sort.stable", call(X, stable=True, dim=1)),
    # Powers
    **of("pow.Tensor_Tensor", call(INTS, X.abs()), call(BYTES, BYTES)),
    **of("pow.Tensor_Scalar", call(BYTES, 2)),
    **of("pow.Scalar", call(2, BYTES)),
    # Reductions
    **of("aminmax", call(X), call(torch.tensor(2.0), dim=0)),
    **of("prod.dim_int", call(torch.tensor(2.0), 0)),
    **of(
        "linalg_vector_norm",
        call(X, 2, None, True),
        call(X, 3, None, True),
        call(torch.tensor(2.0), 1.2, [0], True),
    ),
    **of("var std var_mean std_mean", call(X[:0], [0], correction=1), suffix=".correction"),
    **of("add.Tensor", call(BOOLS, OTHER_BOOLS)),
    **of("add.Scalar", call(BOOLS, True)),
    **of("where.self", call(BOOLS, OTHER_BOOLS, BOOLS)),
    **of("masked_fill.Tensor", call(BOOLS, OTHER_BOOLS, torch.tensor(True))),
    **of("masked_fill.Scalar", call(BOOLS, OTHER_BOOLS, True)),
    # Sequences
    **of("linspace.Tensor_Tensor logspace.Tensor_Tensor", call(X[0, 0], X[0, 1], 1)),
    **of("linspace.Tensor_Scalar logspace.Tensor_Scalar", call(X[0, 0], 2.0, 1)),
    # Signed zeros
    **of("signbit", call(WITH_NAN)),
    **of("copysign.Tensor", call(X, X.flip(0))),
    **of("copysign.Scalar", call(X, -1.0)),
    **of("atan2", call(torch.tensor([0.0, -0.0, INF]), torch.tensor([-1.0, -0.0, INF]))),
    **of("angle", call(WITH_NAN), call(INTS)),
    **of("logit", call(WITH_NAN, 0.1), call(WITH_NAN, 0.6)),
    **of("heaviside", call(WITH_NAN, torch.tensor(0.5))),
    **of("hypot fmax fmin", call(X, X.flip(0))),
    **of("logaddexp", call(FAR, -FAR)),
    **of("logaddexp2", call(FAR, -FAR)),
    **of("frexp.Tensor", call(X)),
    **of("nextafter", call(X, X.flip(0))),
    **of("sign sgn", call(WITH_NAN)),
    # Bags of embeddings
    **of("embedding_bag embedding_bag.padding_idx", call(X, *BAGS_OF_32_BITS)),
    # Squeezing
    **of("squeeze.dim squeeze_copy.dim", call(X, 1)),
    **of("squeeze.dims", script(ONE_SIZED, [0, 1])),
}

FUNCTIONS = {
    "aten::embedding_bag": lambda *args: torch.ops.aten.embedding_bag(*args)[0],
    "aten::embedding_bag.padding_idx": lambda *args: torch.ops.aten.embedding_bag.padding_idx(
        *args, False, 1, False, None, False, 1
    )[0],
    "aten::log2": lambda x: x.log2().floor(),
    "aten::log10": lambda x: x.log10().floor(),
    "aten::repeat_interleave.self_int": lambda x: x.repeat_interleave(x.shape[0], 1),
    "aten::roll": lambda x: x.roll(x.shape[0] // 2, 0),
    "aten::bitwise_and.Scalar": lambda x: x.bitwise_and(x.shape[0]),
    "aten::bitwise_or.Scalar": lambda x: x.bitwise_or(x.shape[0]),
    "aten::bitwise_xor.Scalar": lambda x: x.bitwise_xor(x.shape[0]),
    "aten::__and__.Scalar": lambda x: x & x.shape[0],
    "aten::__or__.Scalar": lambda x: x | x.shape[0],
    "aten::__xor__.Scalar": lambda x: x ^ x.shape[0],
}
"""What calls the operator with arguments that follow a size, or compares one of its results."""
