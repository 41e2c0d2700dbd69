"""Calls of torch.onnx's Python API inside user code, and the tools that succeed its functions."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from seeds.case import Case, refused, tensor
from seeds.harness import Bench, each

ROWS = (tensor("x", "batch", 6),)
FEW = {"batch": (1, 40)}

CASES = (
    Case("E5 E11 C38", "select_model_mode", "plain_models:mode_for_export", ROWS, FEW),
    Case(
        "E6",
        "set_training",
        "plain_models:norm_and_dropout",
        ROWS,
        FEW,
        model={"factory": "plain_models:set_training"},
        expected=refused(Reason.FACTORY_FAILED, words=("set_training",)),
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
