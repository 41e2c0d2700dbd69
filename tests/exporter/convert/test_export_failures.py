"""Models that cannot be exported, each with its reason, its line and a way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.workers.export import export_model
from zoo.tasks import BATCH, spec_for, task_for

ROWS: list[dict[str, Any]] = [{"name": "x", "shape": ["batch", 4]}]
PAIR: list[dict[str, Any]] = [{"name": "x", "shape": ["a", 4]}, {"name": "y", "shape": ["b", 4]}]
PAIR_DIMS = {"a": {"min": 1, "max": 8}, "b": {"min": 1, "max": 8}}
AS_IS = {"rewrites": {"disabled": ["*"]}}
TRACE = {"exporter": "TorchScript"}


class Case(NamedTuple):
    factory: str
    reason: Reason
    stage: Stage
    said: tuple[str, ...]
    inputs: list[dict[str, Any]] = ROWS
    dims: dict[str, dict[str, int]] = BATCH
    export: dict[str, Any] = {}  # noqa: RUF012
    outputs: tuple[str, ...] = ()


CASES = {
    "a branch over values": Case(
        "DataDependent",
        Reason.CAPTURE_FAILED,
        Stage.CAPTURE,
        ("values of a tensor", "awkward.py:", "if x.sum() > 0:"),
    ),
    "numpy in forward": Case(
        "UsesNumpy", Reason.CAPTURE_FAILED, Stage.CAPTURE, ("awkward.py:", "numpy")
    ),
    "a batch that is baked in": Case(
        "BakedBatch",
        Reason.DYNAMIC_DIM_SPECIALIZED,
        Stage.CAPTURE,
        ("input x dim 0 (batch): requested 1..64, got 3",),
    ),
    "a batch that is narrower": Case(
        "NarrowBatch",
        Reason.DYNAMIC_DIM_SPECIALIZED,
        Stage.CAPTURE,
        ("requested 1..64, got 1..8",),
    ),
    "dims that are always equal": Case(
        "EqualDims",
        Reason.DYNAMIC_DIM_SPECIALIZED,
        Stage.CAPTURE,
        ("input y dim 0 (b)", "always equals a"),
        inputs=PAIR,
        dims=PAIR_DIMS,
    ),
    "too few inputs": Case(
        "EqualDims",
        Reason.INPUTS_MISMATCH,
        Stage.CAPTURE,
        ("x: float32 (3, 4)", "missing 1 required positional argument: 'y'"),
    ),
    "a shape that does not fit": Case(
        "NarrowBatch",
        Reason.INPUTS_MISMATCH,
        Stage.CAPTURE,
        ("x: float32 (3, 5)", "awkward.py:"),
        inputs=[{"name": "x", "shape": ["batch", 5]}],
    ),
    "a shape that does not fit, traced": Case(
        "NarrowBatch",
        Reason.INPUTS_MISMATCH,
        Stage.CONVERT,
        ("x: float32 (3, 5)", "awkward.py:"),
        inputs=[{"name": "x", "shape": ["batch", 5]}],
        export=TRACE,
    ),
    "operators that ONNX lacks": Case(
        "Unsupported",
        Reason.UNSUPPORTED_OPERATOR,
        Stage.CONVERT,
        ("special_i0e", "special_ndtri", "awkward.py:"),
        export=AS_IS,
    ),
    "an operator that ONNX lacks, traced": Case(
        "Unsupported",
        Reason.UNSUPPORTED_OPERATOR,
        Stage.CONVERT,
        ("special_i0e", "special_ndtri", "awkward.py:"),
        export={**TRACE, **AS_IS},
    ),
    "too few output names": Case(
        "TwoOutputs",
        Reason.CONTRACT_VIOLATED,
        Stage.CONTRACT,
        ("requested y (1)", "(2)"),
        outputs=("y",),
    ),
    "too many output names": Case(
        "NarrowBatch",
        Reason.CONTRACT_VIOLATED,
        Stage.CONTRACT,
        ("requested y, z (2)", "(1)"),
        dims={"batch": {"min": 1, "max": 8}},
        outputs=("y", "z"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_failure(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    torch.save({"weight": torch.ones(4)}, tmp_path / "model.pt")
    spec = spec_for(
        f"awkward:{case.factory}",
        inputs=case.inputs,
        dims=case.dims,
        export=case.export,
        outputs=list(case.outputs),
    )
    with pytest.raises(ExportFailure) as caught:
        export_model(task_for(spec, tmp_path / "model.pt", tmp_path), lambda *_: None)
    failure = caught.value
    assert (failure.reason, failure.stage) == (case.reason, case.stage), str(failure)
    assert [part for part in case.said if part not in failure.message] == [], failure.message
    assert failure.hint
    assert "Traceback" not in failure.message
    left = {path.name for path in tmp_path.iterdir()} - {"model.pt", "artifact"}
    assert not left, "torch leaves report files behind"


PROGRAM_CASES = {
    "fewer sizes than asked": (
        {"n": torch.export.Dim("n", min=2, max=16)},
        ROWS,
        Reason.DYNAMIC_DIM_SPECIALIZED,
        "input x dim 0 (batch): requested 1..64, got 2..16",
    ),
    "a constant": ({}, ROWS, Reason.DYNAMIC_DIM_SPECIALIZED, "requested 1..64, got 3"),
    "another dtype": (
        {"n": torch.export.Dim("n", max=64)},
        [{"name": "x", "dtype": "int64", "shape": ["batch", 4]}],
        Reason.INPUTS_MISMATCH,
        "declared int64 with 2 dims, the program takes float32 with 2",
    ),
    "another number of inputs": (
        {"n": torch.export.Dim("n", max=64)},
        [*ROWS, {"name": "y", "shape": ["batch", 4]}],
        Reason.INPUTS_MISMATCH,
        "inputs declare 2 (x, y), but the model takes 1",
    ),
    "another constant": (
        {"n": torch.export.Dim("n", max=64)},
        [{"name": "x", "shape": ["batch", 5]}],
        Reason.INPUTS_MISMATCH,
        "input x dim 1: declared 5, the program takes 4",
    ),
}


@pytest.mark.parametrize("name", PROGRAM_CASES)
def test_a_program_that_does_not_offer_what_is_asked(name: str, tmp_path: Path) -> None:
    dims, inputs, reason, said = PROGRAM_CASES[name]
    shape = {0: dims["n"]} if dims else None
    program = torch.export.export(
        torch.nn.Linear(4, 2), (torch.randn(3, 4),), dynamic_shapes=(shape,)
    )
    torch.export.save(program, tmp_path / "model.pt2")
    task = task_for(spec_for(inputs=inputs), tmp_path / "model.pt2", tmp_path)
    with pytest.raises(ExportFailure, match=reason.value) as caught:
        export_model(task, lambda *_: None)
    assert said in caught.value.message
