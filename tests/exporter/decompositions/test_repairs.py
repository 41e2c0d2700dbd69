"""What the library repairs still fails without it: torch.onnx alone, then onnxruntime.

A test that fails here is good news: upstream has fixed the operator, or these arguments of it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from modelexport_exporter.decompositions.capture import CALLS
from modelexport_exporter.decompositions.library import DECOMPOSITIONS
from modelexport_exporter.torch_internals.operators import find_overload
from repairs import captures, counting, made_tensors, matrices, operators, scripts
from repairs.check import Call, Function, find_problem

IN_CI = {"aten::erfinv", "aten::clamp", "aten::relu", "aten::where.self", "aten::squeeze.dim"}


OPERATORS = {**operators.CALLS, **matrices.CALLS, **counting.CALLS, **made_tensors.CALLS}


def nightly_but(names: Collection[str], always: Collection[str]) -> list[Any]:
    return [
        pytest.param(name, marks=[] if name in always else [pytest.mark.nightly]) for name in names
    ]


def assert_needed(name: str, function: Function, call: Call) -> None:
    """Fail unless the library exports the call correctly, and torch.onnx alone does not."""
    assert find_problem(function, call, library=True) == "", "the library does not repair this call"
    if not find_problem(function, call, library=False):
        pytest.fail(
            f"torch.onnx translates {name} now (opset {call.opset}): delete its repair, "
            "or what repairs such arguments"
        )


def test_every_repair_has_a_case() -> None:
    assert set(OPERATORS) == set(DECOMPOSITIONS)
    assert {f"aten::{name}" for name in captures.CALLS} == {name for name, _ in CALLS.values()}


@pytest.mark.parametrize("name", nightly_but(DECOMPOSITIONS, IN_CI))
def test_torch_onnx_still_needs_the_decomposition(name: str) -> None:
    overload = find_overload(name)
    assert overload is not None
    function = operators.FUNCTIONS.get(name)
    for call in OPERATORS[name]:
        if function is None:
            applies = DECOMPOSITIONS[name].applies(*call.args, **call.kwargs)
            assert applies, "the library ignores it"
        assert_needed(name, function or overload, call)


@pytest.mark.parametrize("name", nightly_but(captures.CALLS, {"chunk"}))
def test_torch_export_still_needs_the_replaced_call(name: str) -> None:
    assert_needed(name, *captures.CALLS[name])


@pytest.mark.parametrize("name", nightly_but(scripts.CALLS, {"flip"}))
def test_the_torchscript_exporter_still_needs_the_rewrite(name: str) -> None:
    assert_needed(name, *scripts.CALLS[name])
