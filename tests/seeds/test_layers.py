"""Convolution, normalisation, pooling, embedding."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from seeds.case import Case, array, integers, refused, tensor
from seeds.harness import Bench, each

ROWS = {"n": (1, 12)}
SIGNAL = tensor("x", "n", 4, 17)
IMAGE = tensor("x", "n", 4, 9, 11)
VOLUME = tensor("x", "n", 2, 6, 7, 5)
WORDS = integers("words", "n", 7, high=9)

CASES = (
    Case("A43", "conv1d", "layers:Conv1d", (SIGNAL,), ROWS, nightly=True),
    Case(
        "A43",
        "conv1d_dynamic_length",
        "layers:Conv1d",
        (tensor("x", "n", 4, "length"),),
        {**ROWS, "length": (8, 40)},
    ),
    Case("A43", "conv2d", "layers:Conv2d", (IMAGE,), ROWS, nightly=True),
    Case(
        "A43",
        "conv2d_dynamic_size",
        "layers:Conv2d",
        (tensor("x", "n", 4, "h", "w"),),
        {**ROWS, "h": (8, 24), "w": (8, 30)},
    ),
    Case("A43", "conv3d", "layers:Conv3d", (VOLUME,), ROWS),
    Case(
        "A43",
        "conv_functional",
        "layers:ConvFunctional",
        (tensor("x", "n", 2, 7, 8), tensor("kernel", 2, 2, 3, 3)),
        ROWS,
    ),
    Case("A44", "batch_norm", "layers:BatchNorm", (IMAGE,), {"n": (2, 12)}),
    Case(
        "A44",
        "batch_norm_in_training",
        "layers:BatchNormInTraining",
        (IMAGE,),
        {"n": (2, 12)},
        model={"training": True},
        or_refused=refused(Reason.VERIFICATION_FAILED, Reason.CONVERSION_FAILED),
    ),
    Case("A44", "other_norms", "layers:OtherNorms", (tensor("x", "n", 6, 5),), ROWS),
    Case("A45", "max_pool1d", "layers:MaxPool1d", (SIGNAL,), ROWS, nightly=True),
    Case(
        "A45",
        "max_pool1d_dynamic_length",
        "layers:MaxPool1d",
        (tensor("x", "n", 4, "length"),),
        {**ROWS, "length": (8, 40)},
    ),
    Case("A46", "max_pool2d", "layers:MaxPool2d", (IMAGE,), ROWS, nightly=True),
    Case(
        "A46",
        "max_pool2d_dynamic_size",
        "layers:MaxPool2d",
        (tensor("x", "n", 4, "h", "w"),),
        {**ROWS, "h": (8, 24), "w": (8, 30)},
    ),
    Case("A47", "max_pool3d", "layers:MaxPool3d", (VOLUME,), ROWS),
    Case("A45 A46", "max_pool_indices", "layers:MaxPoolIndices", (IMAGE,), ROWS),
    Case(
        "A46", "max_unpool", "layers:MaxUnpool", (tensor("x", "n", 4, 8, 10),), ROWS, nightly=True
    ),
    Case("A31", "avg_pool2d", "layers:AvgPool2d", (IMAGE,), ROWS, nightly=True),
    Case(
        "A31",
        "avg_pool2d_dynamic_size",
        "layers:AvgPool2d",
        (tensor("x", "n", 4, "h", "w"),),
        {**ROWS, "h": (8, 24), "w": (8, 30)},
    ),
    Case("A31", "avg_pool_divisor", "layers:AvgPoolDivisor", (IMAGE,), ROWS),
    Case(
        "A31",
        "avg_pool_divisor_traced",
        "layers:AvgPoolDivisor",
        (IMAGE,),
        ROWS,
        export={"exporter": "TorchScript"},
        nightly=True,
    ),
    Case("A31 A46", "other_pools", "layers:OtherPools", (IMAGE,), ROWS),
    Case("A48", "embedding", "layers:Embedding", (WORDS,), ROWS),
    Case(
        "A48",
        "embedding_max_norm",
        "layers:EmbeddingMaxNorm",
        (WORDS,),
        ROWS,
        feeds=({"words": array([[0, 1, 2, 3, 4, 5, 6], [9, 9, 9, 8, 7, 6, 5]], dtype="int64")},),
    ),
    Case("A48", "embedding_bag_mean", "layers:EmbeddingBag", (WORDS,), ROWS, nightly=True),
    Case(
        "A48",
        "embedding_bag_max",
        "layers:EmbeddingBag",
        (WORDS,),
        ROWS,
        kwargs={"mode": "max"},
        nightly=True,
    ),
    Case(
        "A43 A44 A46",
        "conv2d_opset_9",
        "layers:MaxPool2d",
        (IMAGE,),
        ROWS,
        export={"opset": 9},
        nightly=True,
        or_refused=refused(Reason.CONVERSION_FAILED, Reason.UNSUPPORTED_OPERATOR),
    ),
    Case(
        "A31",
        "avg_pool2d_opset_11",
        "layers:AvgPool2d",
        (IMAGE,),
        ROWS,
        export={"opset": 11},
        nightly=True,
        or_refused=refused(Reason.VERIFICATION_FAILED, Reason.CONVERSION_FAILED),
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
