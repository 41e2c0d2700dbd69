"""Models whose weights, inputs or memory do not fit what is declared."""

from __future__ import annotations

from refusals.case import ROWS, B, Case, R, ids, tensor

OF_UNFIT = [
    Case(
        "Quantized", ROWS, B, R.UNSUPPORTED_OPERATOR, ["quantized::linear_dynamic"],
        "export.precision", file="unfit", attempts=6,
    ),
    Case(
        "HalfWeights", ROWS, B, R.INPUTS_MISMATCH,
        ["all weights in float32 (layer is bfloat16)"], "set dtype: bfloat16 for the inputs",
        line="self.layer(x) + 1", file="unfit", attempts=1,
        mended={"inputs": [tensor("x", "b", 4, dtype="bfloat16")]},
    ),
    Case(
        "OneAxisLess", [tensor("x", "b", 40, "n")], {**B, "n": (1, 30)}, R.INPUTS_MISMATCH,
        ["x of shape [b, 1, 40, n]"], "Set shape: [b, 1, 40, n] for input x.",
        line="self.layer(x).mean", file="unfit", attempts=1,
        mended={"inputs": [tensor("x", "b", 1, 40, "n")]},
    ),
    Case(
        "TakesBool", [*ROWS, ids("keep", "b", 4, most=1)], B, R.INPUTS_MISMATCH,
        ["keep of type bool"], "Set dtype: bool for input keep.", line="masked_fill(keep",
        file="unfit", attempts=1,
        mended={"inputs": [*ROWS, {"name": "keep", "shape": ["b", 4], "dtype": "bool"}]},
    ),
    Case(
        "GoesThroughSet", ROWS, B, R.VERIFICATION_FAILED, ["the order of a set"], "sorted",
        line="for name in self.used", file="unfit", attempts=1,
    ),
    Case(
        "BuiltFromSet", ROWS, B, R.VERIFICATION_FAILED, ["the order of a set"], "sorted",
        line="for name in SIZES.keys()", file="unfit", attempts=1,
    ),
    Case(
        "KeepsMeans", ROWS, B, R.VERIFICATION_FAILED, ["changes its list means"], "list means",
        file="unfit", attempts=2,
    ),
]  # fmt: skip
