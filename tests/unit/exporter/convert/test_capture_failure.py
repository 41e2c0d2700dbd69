"""Constraint violations of torch.export in the words of the spec."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.convert.capture_failure import explain_capture, explain_constraints
from zoo.tasks import spec_for

SPEC = spec_for(
    inputs=[{"name": "x", "shape": ["a", "b"]}],
    dims={"a": {"min": 1, "max": 64}, "b": {"min": 2, "max": 9}},
)
HEAD = "Constraints violated (a)! For more information, run with TORCH_LOGS.\n  - Not all values\n"


@pytest.mark.parametrize(
    ("fixes", "message", "hint"),
    [
        pytest.param(
            "  a = 3",
            "input x dim 0 (a): requested 1..64, got 3",
            "bakes this size in",
            id="constant",
        ),
        pytest.param(
            "  a = Dim('a', max=8)",
            "input x dim 0 (a): requested 1..64, got 1..8",
            "narrow",
            id="smaller max",
        ),
        pytest.param(
            "  b = Dim('b', min=4)",
            "input x dim 1 (b): requested 2..9, got 4..9",
            "narrow",
            id="larger min",
        ),
        pytest.param(
            "  b = a",
            "input x dim 1 (b): requested 2..9, but in this model it always equals a",
            "one name",
            id="equal",
        ),
        pytest.param(
            "  _a = Dim('_a', max=32)\n  a = 2*_a",
            "input x dim 0 (a): requested 1..64, got 2*_a",
            "accepts",
            id="multiple",
        ),
    ],
)
def test_suggested_fixes_are_in_the_message(fixes: str, message: str, hint: str) -> None:
    failure = explain_constraints(f"{HEAD}Suggested fixes:\n{fixes}\n", SPEC)
    assert failure.reason is Reason.DYNAMIC_DIM_SPECIALIZED
    assert message in failure.message
    assert hint in failure.hint


def test_without_a_fix_the_message_has_torchs_own_sentence() -> None:
    assert "Not all values" in explain_constraints(HEAD, SPEC).message


def test_a_number_that_the_graph_holds_as_a_constant_is_named() -> None:
    spec = spec_for(
        inputs=[
            {"name": "x", "shape": ["a"]},
            {"name": "options.steps", "kind": "Int", "range": [0, 4]},
        ],
        dims={"a": {"min": 1, "max": 64}},
    )
    said = (
        "Found the following conflicts between user-specified ranges and inferred ranges from "
        "model tracing:\n- Received user-specified dim hint Dim.DYNAMIC(min=None, max=None), but "
        "tracing inferred a static shape of 2 for dimension inputs['options']['steps']"
    )
    bound = SimpleNamespace(spec=spec)
    failure = explain_capture(ValueError(said), torch.nn.Identity(), bound, None)  # type: ignore[arg-type]
    assert failure.reason is Reason.DYNAMIC_DIM_SPECIALIZED
    assert failure.message == (
        "input options.steps: declared as a number of 0..4, got the constant 2"
    )
    assert "kind: Constant" in failure.hint
