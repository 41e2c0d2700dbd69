"""What the exporter does about each kind of difference, by operator."""

from __future__ import annotations

_AXES = "rewritten: negative axes are counted from the start where a dim may be 0"
_NAN = (
    "refused: a NaN that forward looks for or repairs is among the samples, and one inside of a "
    "module shows in its outputs"
)
_NAN_FOUND = "rewritten: IsNaN finds it, and Where returns it or its place"
_NAN_RANKED = "rewritten: NaN is ranked as infinity, infinity as the largest number"
_INFINITE = (
    "refused: infinite values are among the samples where forward accepts them; the status names "
    "the outputs that were not compared with NaN"
)
_CARRIED = (
    "rewritten where an input may be NaN: CumSum carries it along the steps; sums of infinities "
    "of both signs where the model looks for NaN, else infinite values are among the samples "
    "where forward accepts them"
)
_WINDOWS = (
    "rewritten for signals where an input may be NaN: IsNaN finds it in each window; for images "
    "where the model looks for NaN, else the status names the outputs that were not compared "
    "with it"
)
_ZERO = "harmless: zeros are equal; only a division by it or its sign shows the difference"
_SIGN = (
    "rewritten where a number is divided by it, or by what is computed of it, in float32 and "
    "float64: Where returns 0 for -0"
)
_LARGEST = "harmless: beyond 1e38, where sums overflow or not by their order"
_LOUD = "refused: the file does not run"
_TINY = "harmless: below the roundoff of 1; samples of tiny values meet it"
_NONE_OF = "harmless: torch.onnx writes it for no such dtype"

DISPOSITIONS: dict[tuple[str, str], str] = {
    **{
        (operator, "shape"): _AXES
        for operator in (
            "ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax",
            "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
        )
    },
    **{
        (operator, "sign of zero"): _ZERO
        for operator in (
            "Attention", "Celu", "CumSum", "Einsum", "Gemm", "GridSample", "LSTM",
            "LayerNormalization", "MatMul",
            "Max", "MaxPool", "Min", "ReduceMax", "ReduceMin", "Resize",
            "ScatterElements", "Selu", "Unique", "Where",
        )
    },
    **{(operator, "sign of zero"): _SIGN for operator in ("ReduceMean", "ReduceSum")},
    **{
        (operator, "NaN or infinity"): _NAN_FOUND for operator in ("ReduceMax", "ReduceMin")
    },
    ("ScatterElements", "NaN or infinity"): "rewritten where an input may be NaN: IsNaN finds it, "
    "and Where returns it",
    ("TopK", "NaN or infinity"): _NAN_RANKED,
    ("TopK", "value"): _NAN_RANKED,
    **{
        (operator, "NaN or infinity"): _INFINITE
        for operator in ("Attention", "Gelu", "LogSoftmax", "Resize")
    },
    **{(operator, "NaN or infinity"): _CARRIED for operator in ("GRU", "LSTM", "RNN")},
    ("MaxPool", "NaN or infinity"): _WINDOWS,
    ("GlobalMaxPool", "NaN or infinity"): "rewritten where an input may be NaN: IsNaN finds it",
    **{
        (operator, "NaN or infinity"): _LARGEST
        for operator in ("Conv", "ConvTranspose", "GlobalAveragePool", "HardSwish",
                         "InstanceNormalization", "LayerNormalization")
    },
    **{(operator, "value"): _NAN_FOUND for operator in ("ArgMax", "ArgMin")},
    **{
        (operator, "value"): "rewritten: Less and Where choose"
        for operator in ("Clip", "Max", "Min")
    },
    **{
        (operator, "value"): "rewritten: the upper and the lower 32 bits are reduced apart"
        for operator in ("ReduceMax", "ReduceMin", "ReduceSum")
    },
    **{(operator, "value"): _TINY for operator in ("Celu", "Elu", "Mish", "Selu", "Tanh")},
    **{
        (operator, "failure"): _LOUD
        for operator in ("Attention", "GRU", "LSTM")
    },
    ("ScatterElements", "failure"): "rewritten: halves that meet at a place are float32",
    ("Attention", "value"): "rewritten: the decomposition of scaled_dot_product_attention in "
    "float64; in float32 harmless: from 2^24 on, the rounding of products decides",
    ("BatchNormalization", "value"): "harmless: 1e-14; infinities meet finite weights",
    ("BitShift", "value"): "harmless: a shift by more bits than the type has, undefined in C++",
    ("Cast", "value"): "harmless: a float that the integer type does not hold, undefined in C++",
    ("Clip", "NaN or infinity"): "rewritten: Max or Min in place of Clip with one bound",
    ("Einsum", "value"): "refused: integers around 2⁵³ are among the samples where the range has "
    "them",
    ("Gelu", "value"): "rewritten: the decomposition of gelu in float64; in float32 below the "
    "roundoff of the largest result",
    ("GRU", "value"): "harmless: from 2^24 on, sums of both signs cancel, and their order decides "
    "a gate",
    ("GridSample", "NaN or infinity"): "rewritten: far, infinite and NaN places as in torch",
    ("GridSample", "value"): "rewritten: the decomposition of grid_sampler_2d, nearest with "
    "reflection",
    ("GroupNormalization", "failure"): "refused: a batch of 0 is a sample where dims declare it",
    ("GroupNormalization", "value"): "harmless: epsilon has single precision; torch.onnx writes "
    "it from opset 21 on only, and samples of constant signals meet it",
    ("LayerNormalization", "value"): "rewritten: the decomposition of layer_norm in float64",
    ("Mod", "NaN or infinity"): "harmless: torch's own remainder of a subnormal divisor is NaN",
    ("Mod", "value"): "rewritten: the product of quotient and divisor is subtracted",
    ("Pow", "NaN or infinity"): "rewritten: Sqrt where the exponent is 1/2",
    ("Pow", "sign of zero"): "rewritten: Sqrt where the exponent is 1/2",
    ("Pow", "value"): "rewritten: products, by squares; by the 16 lowest bits of an exponent that "
    "is no constant",
    ("ReduceLogSumExp", "NaN or infinity"): "rewritten: the maximum is subtracted first",
    ("ReduceMean", "NaN or infinity"): "rewritten where the size depends on values: the sum "
    "divided by the count",
    ("ReduceProd", "value"): "rewritten: ScatterElements multiplies and wraps, over an axis or all",
    ("RMSNormalization", "value"): "rewritten: the decomposition of rms_norm in float64",
    ("Sigmoid", "value"): "rewritten where it is returned, and before what magnifies it, such as a "
    "logarithm, a root, a denominator, a rank: 1 / (1 + exp(-x)); harmless before layers with "
    "weights",
    ("Sign", "NaN or infinity"): "rewritten: the decomposition of sign",
    ("Sign", "value"): "rewritten: the decomposition of sign, and comparisons with 0",
    ("Col2Im", "NaN or infinity"): "harmless: beyond 6e4, where sums overflow or not by their "
    "order",
    ("NonMaxSuppression", "value"): _NAN,
    ("Unique", "shape"): _NAN,
    ("Unique", "value"): _NAN,
}  # fmt: skip
