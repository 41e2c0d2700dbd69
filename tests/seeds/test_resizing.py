"""Resizing, quantised operators, and operators that nothing converts."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from seeds.case import Case, refused, tensor
from seeds.harness import Bench, each

ROWS = {"n": (1, 9)}
IMAGE = tensor("x", "n", 3, 6, 7)
SIZES = {"n": (1, 5), "h": (4, 20), "w": (4, 20)}
DYNAMIC = tensor("x", "n", 3, "h", "w")
SQUARE = tensor("x", "n", 4)
NAMED = (Reason.UNSUPPORTED_OPERATOR, Reason.CONVERSION_FAILED, Reason.CAPTURE_FAILED)

RESIZE = (
    Case("A55", "upsample_to_480_640", "resizing:ToFixedSize", (tensor("x", 1, 3, 24, 32),)),
    Case(
        "A55",
        "upsample_to_480_640_dynamic",
        "resizing:ToFixedSize",
        (DYNAMIC,),
        {"n": (1, 2), "h": (4, 20), "w": (4, 20)},
        nightly=True,
    ),
    Case(
        "A55",
        "upsample_to_480_640_opset_11",
        "resizing:ToFixedSize",
        (tensor("x", 1, 3, 24, 32),),
        export={"opset": 11},
        nightly=True,
    ),
    Case("A55", "upsampling_bilinear", "resizing:UpsamplingBilinear", (DYNAMIC,), SIZES),
    Case("A56", "bilinear", "resizing:Bilinear", (IMAGE,), ROWS, nightly=True),
    Case("A56", "bilinear_dynamic", "resizing:Bilinear", (DYNAMIC,), SIZES),
    Case("A56", "nearest", "resizing:Nearest", (IMAGE,), ROWS, nightly=True),
    Case("A56", "nearest_dynamic", "resizing:Nearest", (DYNAMIC,), SIZES),
    Case("A56", "nearest_exact", "resizing:NearestExact", (IMAGE,), ROWS),
    Case("A56", "bicubic", "resizing:Bicubic", (IMAGE,), ROWS),
    Case("A56", "linear_and_trilinear", "resizing:LinearAndTrilinear", (IMAGE,), ROWS),
    Case("A56", "area", "resizing:Area", (IMAGE,), ROWS),
    Case("A56", "antialiased", "resizing:Antialiased", (IMAGE,), ROWS, nightly=True),
    Case(
        "A56",
        "to_size_of_other",
        "resizing:ToSizeOfOther",
        (tensor("x", "n", 3, 6, 7), tensor("other", "n", 3, "h", "w")),
        SIZES,
        nightly=True,
    ),
    Case("A56", "pixel_shuffle", "resizing:Shuffle", (tensor("x", "n", 4, 6, 9),), ROWS),
    Case(
        "A56",
        "grid_sample",
        "resizing:Sample",
        (IMAGE, tensor("grid", "n", 5, 4, 2, low=-1.2, high=1.2)),
        ROWS,
    ),
)

QUANTIZED = (
    Case(
        "A58",
        "quantized_round_trip",
        "quantizing:RoundTrip",
        (SQUARE,),
        ROWS,
        or_refused=refused(*NAMED, words=["quantiz"]),
    ),
    Case(
        "A58",
        "quantized_round_trip_of_channels",
        "quantizing:RoundTripOfChannels",
        (SQUARE,),
        ROWS,
        or_refused=refused(*NAMED, words=["quantiz"]),
        nightly=True,
    ),
    Case("A58", "fake_quantized", "quantizing:FakeQuantized", (SQUARE,), ROWS),
    Case(
        "A58",
        "dynamically_quantized",
        "quantizing:DynamicallyQuantized",
        (SQUARE,),
        ROWS,
        or_refused=refused(*NAMED, words=["quantiz"]),
    ),
    Case(
        "A58",
        "quantized_arithmetic",
        "quantizing:QuantizedArithmetic",
        (SQUARE, tensor("y", "n", 4)),
        ROWS,
        or_refused=refused(*NAMED, words=["quantiz"]),
        nightly=True,
    ),
)

UNCONVERTIBLE = (
    Case(
        "A59",
        "unconvertible",
        "quantizing:Unconvertible",
        (SQUARE,),
        ROWS,
        or_refused=refused(
            Reason.UNSUPPORTED_OPERATOR,
            words=["bessel_j0", "zeta", "quantizing.py", "first", "second"],
        ),
    ),
    Case(
        "A59",
        "eigenvalues",
        "quantizing:Eigenvalues",
        (tensor("x", "n", 4, 4),),
        ROWS,
        or_refused=refused(Reason.UNSUPPORTED_OPERATOR, words=["eigvalsh", "quantizing.py"]),
    ),
)


@pytest.mark.parametrize("case", each((*RESIZE, *QUANTIZED, *UNCONVERTIBLE)))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
