"""What was asked against what the file offers."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import TensorInfo
from modelexport_exporter.convert.contract import check_contract
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.read_back import ArtifactFacts
from zoo.tasks import spec_for

SPEC = spec_for(
    inputs=[
        {"name": "ids", "dtype": "int64", "shape": ["batch", 8]},
        {"name": "mask", "dtype": "bool", "shape": ["batch", 8]},
    ],
    outputs=["logits"],
)


def facts(**changed: Any) -> ArtifactFacts:  # noqa: ANN401
    honest: dict[str, Any] = {
        "inputs": (tensor("ids", "int64"), tensor("mask", "bool")),
        "outputs": (tensor("logits", "float32"),),
        "opset": 20,
        "ir_version": 10,
        "op_counts": {},
    }
    return ArtifactFacts(**{**honest, **changed})


def tensor(name: str, dtype: str, *shape: int | str) -> TensorInfo:
    return TensorInfo(name=name, dtype=dtype, shape=list(shape or ("batch", 8)))


def test_what_was_asked_is_no_finding() -> None:
    assert check_contract(SPEC, facts()) == ()


@pytest.mark.parametrize(
    ("changed", "reason", "said"),
    [
        pytest.param(
            {"opset": 18}, Reason.CONTRACT_VIOLATED, "opset: requested 20, got 18", id="opset"
        ),
        pytest.param(
            {"outputs": ()}, Reason.CONTRACT_VIOLATED, "returns no tensor", id="no outputs"
        ),
        pytest.param(
            {"outputs": (tensor("y", "float32"),)},
            Reason.CONTRACT_VIOLATED,
            "requested logits (1), got y (1)",
            id="output names",
        ),
        pytest.param(
            {"inputs": (tensor("ids", "int64"), tensor("mask", "bool"), tensor("w", "float32"))},
            Reason.CONTRACT_VIOLATED,
            "not declared: w",
            id="undeclared input",
        ),
        pytest.param(
            {"inputs": (tensor("ids", "int32"), tensor("mask", "bool"))},
            Reason.CONTRACT_VIOLATED,
            "requested int64 with 2 dims, got int32 with 2",
            id="dtype",
        ),
        pytest.param(
            {"inputs": (tensor("ids", "int64", 3, 8), tensor("mask", "bool"))},
            Reason.DYNAMIC_DIM_SPECIALIZED,
            "input ids dim 0 (batch): requested 1..64, got 3",
            id="specialised dim",
        ),
        pytest.param(
            {"functions": frozenset({"mine::Gelu", "com.microsoft::Gelu"})},
            Reason.CONTRACT_VIOLATED,
            "the file defines com.microsoft::Gelu as functions",
            id="a function that shadows an operator",
        ),
    ],
)
def test_what_fails(changed: dict[str, Any], reason: Reason, said: str) -> None:
    with pytest.raises(ExportFailure) as caught:
        check_contract(SPEC, facts(**changed))
    assert (caught.value.reason, said in caught.value.message) == (reason, True)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("changed", "subject", "obtained"),
    [
        pytest.param(
            {"inputs": (tensor("ids", "int64"),)}, "input mask", "dropped", id="unused input"
        ),
        pytest.param(
            {"inputs": (tensor("ids", "int64", "batch", "n"), tensor("mask", "bool"))},
            "input ids dim 1",
            "n",
            id="wider than asked",
        ),
        pytest.param(
            {"inputs": (tensor("ids", "int64", "n", 8), tensor("mask", "bool"))},
            "input ids dim 0",
            "n",
            id="another name",
        ),
    ],
)
def test_what_is_only_reported(changed: dict[str, Any], subject: str, obtained: str) -> None:
    (finding,) = check_contract(SPEC, facts(**changed))
    assert finding.subject == subject
    assert finding.obtained.startswith(obtained)


@pytest.mark.parametrize("written", ["2*batch + 1", "2 * batch + 1"])
def test_an_expression_is_what_it_says(written: str) -> None:
    spec = spec_for(
        inputs=[
            {"name": "ids", "dtype": "int64", "shape": ["batch", 8]},
            {"name": "mask", "dtype": "bool", "shape": ["2 * batch + 1", 8]},
        ],
        outputs=["logits"],
    )
    made = (tensor("ids", "int64"), tensor("mask", "bool", written, 8))
    assert check_contract(spec, facts(inputs=made)) == ()
    with pytest.raises(ExportFailure, match=r"input mask dim 0 \(batch\): .* got 7"):
        check_contract(spec, facts(inputs=(made[0], tensor("mask", "bool", 7, 8))))
