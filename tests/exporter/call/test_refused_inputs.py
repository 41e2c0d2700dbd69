"""Inputs that do not fit forward, or that a file would hold as constants: none is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from exporter.call.input_cases import DYNAMO, TRACE, Case, export, ignore, rows, task_for
from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import Rung
from modelexport_exporter.workers.export import export_model


class Refusal(NamedTuple):
    model: str
    inputs: list[dict[str, Any]]
    reason: Reason
    said: tuple[str, ...]
    rung: Rung = DYNAMO
    example: str | None = None


REFUSALS = {
    "a value on a tensor": Refusal(
        "Optionals", [rows("x", value=3)], Reason.INVALID_MANIFEST, ("input x", "has a value")
    ),
    "a name and parts of it": Refusal(
        "Batch",
        [rows("batch"), rows("batch.left")],
        Reason.INVALID_MANIFEST,
        ("input batch", "batch.left"),
    ),
    "a gap in a list": Refusal(
        "Layers",
        [rows("x"), rows("cache.0"), rows("cache.2")],
        Reason.INVALID_MANIFEST,
        ("cache.0, cache.2", "counted from 0"),
    ),
    "more than forward takes": Refusal(
        "Complex",
        [rows("x"), rows("y")],
        Reason.INPUTS_MISMATCH,
        ("inputs declare 2 (x, y)", "takes 1: forward(x)"),
    ),
    "too few": Refusal(
        "Wrapped",
        [rows("x")],
        Reason.INPUTS_MISMATCH,
        ("missing 1 required positional argument: 'y'",),
    ),
    "names for fewer tensors than the example has": Refusal(
        "Keywords",
        [{"name": "ids"}],
        Reason.INPUTS_MISMATCH,
        ("kinds:tokens returns 2 tensors", "int64[2, 5]", "inputs name 1 (ids)"),
        example="tokens",
    ),
    "names for more tensors than the example has": Refusal(
        "Optionals",
        [{"name": "x"}, {"name": "y"}],
        Reason.INPUTS_MISMATCH,
        ("returns 1 tensors", "inputs name 2 (x, y)"),
        example="one",
    ),
    "another rank than the example's": Refusal(
        "Optionals",
        [rows("x", shape=["n", 4, 1])],
        Reason.INPUTS_MISMATCH,
        ("input x: declared with 3 dims", "(2, 4)"),
        example="one",
    ),
    "an example that fails": Refusal(
        "Optionals",
        [rows("x")],
        Reason.FACTORY_FAILED,
        ("kinds:failing raised RuntimeError: no example today", "kinds.py:"),
        example="failing",
    ),
    "no such example": Refusal(
        "Optionals",
        [rows("x")],
        Reason.FACTORY_NOT_FOUND,
        ("model.exampleInputs is kinds:token", "has no token"),
        example="token",
    ),
    "an example of nothing": Refusal(
        "Optionals", [rows("x")], Reason.FACTORY_FAILED, ("returned None",), example="nothing"
    ),
    "complex outputs": Refusal("Complex", [rows("x")], Reason.CONTRACT_VIOLATED, ("is complex64",)),
    "complex outputs, traced": Refusal(
        "Complex", [rows("x")], Reason.CONTRACT_VIOLATED, ("is complex64",), TRACE
    ),
    "strings as outputs": Refusal(
        "Labels", [rows("x")], Reason.CONVERSION_FAILED, ("is the str 'label'",)
    ),
    "strings as outputs, traced": Refusal(
        "Labels", [rows("x")], Reason.CONTRACT_VIOLATED, ("is a str, not a tensor",), TRACE
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_is_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    refusal = REFUSALS[name]
    case = Case(refusal.model, refusal.inputs, (), example=refusal.example)
    with pytest.raises(ExportFailure) as caught:
        export_model(task_for(case, refusal.rung, tmp_path), ignore)
    failure = caught.value
    assert failure.reason is refusal.reason, failure
    assert all(part in failure.message for part in refusal.said), failure.message
    assert failure.hint


BAKED_IN = {"Mismatch", "CaptureFailed", "DynamicDimSpecialized", "RuntimeFailed"}


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        pytest.param(
            "Branches",
            [
                rows("x"),
                {"name": "steps", "kind": "Constant", "value": 1},
                {"name": "threshold", "kind": "Float"},
                {"name": "flip", "kind": "Constant", "value": False},
            ],
            id="a threshold",
        ),
        pytest.param(
            "Branches",
            [
                rows("x"),
                {"name": "steps", "kind": "Constant", "value": 1},
                {"name": "threshold", "kind": "Constant", "value": 0},
                {"name": "flip", "kind": "Bool"},
            ],
            id="a switch",
        ),
    ],
)
@pytest.mark.parametrize("rung", [DYNAMO, TRACE])
def test_a_number_that_is_baked_in_is_noticed(
    model: str, inputs: list[dict[str, Any]], rung: Rung, tmp_path: Path
) -> None:
    """Whether torch says so, or writes a file that is right for one value only."""
    assert ending(model, inputs, rung, tmp_path) in BAKED_IN


def test_a_loop_that_an_input_counts_is_not_baked_in(tmp_path: Path) -> None:
    """torch.export gets it as one step; a trace repeats the body as often as its example says."""
    inputs = [
        rows("x"),
        {"name": "steps", "kind": "Int", "range": [0, 4]},
        {"name": "threshold", "kind": "Constant", "value": 0},
        {"name": "flip", "kind": "Constant", "value": False},
    ]
    for rung, endings in {DYNAMO: {"Verified"}, TRACE: BAKED_IN}.items():
        folder = tmp_path / rung
        folder.mkdir()
        assert ending("Branches", inputs, rung, folder) in endings


def ending(model: str, inputs: list[dict[str, Any]], rung: Rung, folder: Path) -> str:
    """The verdict of one attempt, or the reason why there is none."""
    try:
        _, outcome = export(task_for(Case(model, inputs, ()), rung, folder))
        return str(outcome.summary.verdict)
    except ExportFailure as failure:
        return str(failure.reason)
