"""What is tried after a refusal, and that it is among the first things tried."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from modelexport_api.spec import DType, InputKind
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses
from modelexport_exporter.inference.layers import Layer
from modelexport_exporter.inference.refusal import Refusal
from modelexport_exporter.inference.repairs import Known, repairs

KNOWN = Known((Layer(2, (), DType.INT64, 50), Layer(3, ((2, 16),))), DType.FLOAT32)


def of(*inputs: Guess, **sizes: int) -> Guesses:
    found = Guesses(inputs, {BATCH: 3, **{name.replace("_", "."): n for name, n in sizes.items()}})
    return found.with_sizes_of(axis for one in inputs for axis in one.axes)


X = Guess("x", DType.FLOAT32, (BATCH, "x.1"))
PICTURE = Guess("x", DType.FLOAT32, (BATCH, "x.1", "x.2", "x.3"))


TABLES = [Guess(name, DType.INT64, (BATCH, f"{name}.1")) for name in ("shop", "day")]


@pytest.mark.parametrize(
    ("guesses", "refusal", "expected"),
    [
        pytest.param(
            of(X, *TABLES, x_1=11),
            Refusal(
                "RuntimeError: Tensors must have same number of dimensions: got 2 and 3",
                0,
                "cat",
                ((3, 11), (3, 13, 8), (3, 17, 4)),
            ),
            "x: float32[3, 11], shop: int64[3], day: int64[3]",
            id="rows-of-numbers-and-of-tables",
        ),
        pytest.param(
            of(X, x_1=11),
            Refusal(
                "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x11 and 10x20)",
                0,
                "addmm",
                ((3, 11),),
                ((20,), (10, 20)),
            ),
            "x: float32[3, 10]",
            id="features",
        ),
        pytest.param(
            of(PICTURE, x_1=11, x_2=13, x_3=17),
            Refusal(
                "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input"
                "[3, 11, 13, 17] to have 3 channels, but got 11 channels instead",
                0,
                "convolution",
                ((3, 11, 13, 17),),
                ((64, 3, 7, 7),),
            ),
            "x: float32[3, 3, 13, 17]",
            id="channels",
        ),
        pytest.param(
            of(X, x_1=11),
            Refusal("RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d"),
            "x: float32[3, 11, 13, 17]",
            id="rank",
        ),
        pytest.param(
            of(X, x_1=11),
            Refusal("ValueError: not enough values to unpack (expected 4, got 2)"),
            "x: float32[3, 11, 13, 17]",
            id="rank that the code unpacks",
        ),
        pytest.param(
            of(X, x_1=11),
            Refusal(
                "RuntimeError: Expected tensor for argument #1 'indices' to have scalar type Long",
                0,
                "embedding",
                ((3, 11),),
                ((50, 16),),
            ),
            "x: int64[3, 11]",
            id="indices",
        ),
        pytest.param(
            of(Guess("edges", DType.INT64, (BATCH, "edges.1")), edges_1=11),
            Refusal("ValueError: too many values to unpack (expected 2)"),
            "edges: int64[2, 11]",
            id="parts",
        ),
        pytest.param(
            of(PICTURE, x_1=11, x_2=13, x_3=17).with_known("x.1", 3),
            Refusal(
                "RuntimeError: Calculated padded input size per channel: (13 x 17). Kernel size: "
                "(32 x 32). Kernel size can't be greater than actual input size",
                0,
                "convolution",
                ((3, 3, 13, 17),),
                ((64, 3, 32, 32),),
            ),
            "x: float32[3, 3, 26, 34]",
            id="too small",
        ),
    ],
)
def test_the_repair_is_among_the_first(guesses: Guesses, refusal: Refusal, expected: str) -> None:
    tried = [one.described() for one in islice(repairs(guesses, refusal, KNOWN), 6)]
    assert expected in tried


def test_the_length_of_a_flattened_picture_scales_both_sizes() -> None:
    guesses = of(PICTURE, x_1=3, x_2=37, x_3=41).with_known("x.1", 3)
    refusal = Refusal(
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x1296 and 784x10)",
        9,
        "addmm",
        ((3, 1296),),
        ((10,), (784, 10)),
    )
    tried = [one.described() for one in islice(repairs(guesses, refusal, KNOWN), 40)]
    assert "x: float32[3, 3, 30, 30]" in tried


def test_sizes_of_two_inputs_that_meet_become_one() -> None:
    mask = Guess("mask", DType.BOOL, (BATCH, "mask.1"))
    guesses = of(X, mask, x_1=11, mask_1=13)
    refusal = Refusal(
        "RuntimeError: The size of tensor a (11) must match the size of tensor b (13)",
        4,
        "mul",
        ((3, 11), (3, 13)),
    )
    first = next(repairs(guesses, refusal, KNOWN))
    assert [one.axes for one in first.inputs] == [(BATCH, "x.1"), (BATCH, "x.1")]


def test_what_the_user_states_stays() -> None:
    x = replace(X, stated=frozenset({"dtype"}))
    stated = Guesses((x,), {BATCH: 3, "x.1": 11}, frozenset({"x.1"}), frozenset({"x"}))
    refusal = Refusal("RuntimeError: expected 4, got 2", 0, "addmm", ((3, 11),), ((10, 20),))
    assert not list(repairs(stated, refusal, KNOWN))


def test_a_mask_of_integers_is_still_a_mask() -> None:
    mask = Guess("attention_mask", DType.BOOL, (BATCH, "m.1"), InputKind.ATTENTION_MASK)
    refusal = Refusal("TypeError: expected dtype Long", 0)
    tried = [one.inputs[0] for one in repairs(of(mask, m_1=11), refusal, KNOWN)]
    integer = next(one for one in tried if one.dtype is DType.INT64)
    assert integer.kind is InputKind.ATTENTION_MASK
