"""Activation functions, softmax and dropout."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from seeds.case import EDGES, SPECIALS, Case, refused, tensor
from seeds.harness import Bench, each

ROWS = {"n": (1, 40)}
X = tensor("x", "n", 4)
IMAGE = tensor("x", "n", 3, 4, 5)
ALL = (*EDGES, *SPECIALS[:3])
RANDOM = refused(Reason.VERIFICATION_FAILED, words=["two runs"])

CASES = (
    Case("A33", "elu", "activations:Elu", (X,), ROWS, edges=ALL),
    Case("A33", "elu_opset_9", "activations:Elu", (X,), ROWS, export={"opset": 9}),
    Case("A33", "elu_of_aten", "activations:EluOfATen", (X,), ROWS),
    Case(
        "A33",
        "elu_of_aten_traced",
        "activations:EluOfATen",
        (X,),
        ROWS,
        export={"exporter": "TorchScript"},
        nightly=True,
    ),
    Case("A34", "selu", "activations:Selu", (X,), ROWS, edges=ALL),
    Case("A25", "prelu", "activations:Prelu", (X, tensor("image", "n", 4, 2, 3)), ROWS),
    Case("A26", "threshold", "activations:Threshold", (X,), ROWS),
    Case("A27", "leaky_relu", "activations:LeakyRelu", (X,), ROWS, edges=ALL),
    Case("A28", "glu", "activations:Glu", (tensor("x", "n", 4, 6), tensor("odd", "n", 2, 3)), ROWS),
    Case("A29", "softmax", "activations:Softmax", (tensor("x", "n", 4, 6),), ROWS),
    Case(
        "A29",
        "softmax_opset_11",
        "activations:Softmax",
        (tensor("x", "n", 4, 6),),
        ROWS,
        export={"opset": 11},
        nightly=True,
    ),
    Case("A30", "log_softmax", "activations:LogSoftmax", (tensor("x", "n", 4, 6),), ROWS),
    Case("A27 A37", "smooth_activations", "activations:Smooth", (X,), ROWS),
    Case("A51 A52", "dropout", "activations:Dropout", (IMAGE,), ROWS),
    Case("A51", "dropout_forgotten", "activations:DropoutForgotten", (X,), ROWS, expected=RANDOM),
    Case(
        "A52",
        "feature_dropout_forgotten",
        "activations:FeatureDropoutForgotten",
        (IMAGE,),
        ROWS,
        expected=RANDOM,
    ),
    Case(
        "A51 A52",
        "dropout_of_nothing_in_training",
        "activations:DropoutOfNothing",
        (IMAGE,),
        ROWS,
        model={"training": True},
    ),
    Case(
        "A52",
        "dropout_of_all_in_training",
        "activations:DropoutOfAll",
        (IMAGE,),
        ROWS,
        model={"training": True},
        nightly=True,
    ),
    Case(
        "A51 A52",
        "dropout_in_training",
        "activations:Dropout",
        (IMAGE,),
        ROWS,
        model={"training": True},
        expected=RANDOM,
        nightly=True,
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
