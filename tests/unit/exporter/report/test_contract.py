"""The contract: what was asked of the inputs and outputs, and what the file has."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_exporter.report import contract
from modelexport_exporter.report.contract import contract_of
from unit.exporter.report.reports import (
    artifact,
    failed,
    report,
    spec,
)


@pytest.mark.parametrize(
    ("obtained", "kept"),
    [
        pytest.param({"dtype": "float32", "shape": ["batch", 4]}, True, id="as requested"),
        pytest.param({"dtype": "float32", "shape": [3, 4]}, False, id="a constant"),
        pytest.param({"dtype": "float16", "shape": ["batch", 4]}, False, id="another type"),
        pytest.param({"dtype": "float32", "shape": ["batch"]}, False, id="fewer dims"),
    ],
)
def test_an_input_is_held_against_what_was_asked(obtained: dict[str, Any], kept: bool) -> None:
    found = contract_of(report(artifact=artifact(inputs=[{"name": "x", **obtained}])))
    assert found.terms[0].requested == "float32[batch, 4]"
    assert found.terms[0].kept is kept


def test_a_dim_of_one_size_is_a_constant() -> None:
    asked = spec(dims={"batch": {"min": 3, "max": 3}})
    made = artifact(inputs=[{"name": "x", "dtype": "float32", "shape": [3, 4]}])
    assert contract_of(report(spec=asked, artifact=made)).terms[0].kept


def test_an_input_that_was_dropped_is_not_kept() -> None:
    found = contract_of(report(artifact=artifact(inputs=[])))
    assert (found.terms[0].obtained, found.terms[0].kept) == ("not in the file", False)


def test_the_contract_of_a_failure_is_what_was_asked() -> None:
    found = contract_of(failed("CaptureFailed"))
    assert not found.obtained
    assert [term.name for term in found.terms] == ["x", "ai.onnx", "y"]
    assert all(term.kept for term in found.terms)


def test_the_contract_of_a_mismatch_is_that_of_its_file() -> None:
    made = artifact()
    file = {key: made[key] for key in ("exporter", "opset", "irVersion", "sizeBytes")}
    file |= {"inputs": made["inputs"], "outputs": [{**made["outputs"][0], "name": "tanh"}]}
    found = contract_of(failed("VerificationFailed", unpublished=file))
    assert found.obtained
    assert not found.published
    assert [(term.obtained, term.kept) for term in found.terms] == [
        ("float32[batch, 4]", True),
        ("20", True),
        ("float32[batch, 2]", False),
    ]


def test_of_a_long_contract_whatever_differs_is_shown_at_once() -> None:
    names = [f"o{index}" for index in range(40)]
    tensors = [{"name": name, "dtype": "float32", "shape": []} for name in names]
    tensors[35]["name"] = "renamed"
    found = contract_of(report(spec=spec(outputs=names), artifact=artifact(outputs=tensors)))
    assert len(found.terms) == contract.AT_ONCE + 1
    assert (found.terms[-1].name, found.terms[-1].kept) == ("o35", False)
    assert len(found.terms) + len(found.more) == 42


def test_dims_say_where_they_were_compared() -> None:
    found = contract_of(report())
    assert [(dim.low, dim.high, dim.verified_at) for dim in found.dims] == [(1, 16, "1, 7")]


def test_inferred_values_are_marked_with_how_they_were_found() -> None:
    inferred = [
        {"field": "inputs[0].shape", "value": "[batch, 4]", "source": "ran at 2 and 3"},
        {"field": "inputs[0].dtype", "value": "float32", "source": "forward's annotation"},
        {"field": "dims.batch", "value": "1..16", "source": "ran at 1 and 16"},
    ]
    found = contract_of(report(inferred=inferred))
    assert [(term.name, term.inferred) for term in found.terms] == [
        ("x", "ran at 2 and 3; forward's annotation"),
        ("ai.onnx", ""),
        ("y", ""),
    ]
    assert [dim.inferred for dim in found.dims] == ["ran at 1 and 16"]
    assert [entry.field for entry in found.inferred] == [entry["field"] for entry in inferred]
