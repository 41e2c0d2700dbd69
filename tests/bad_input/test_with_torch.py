"""Mistakes that only the model can tell: the same four parts, and the line of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from bad_input.code import model
from modelexport_api.reasons import Reason
from modelexport_api.resource import parse
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from seeds.harness import Lines

CODE = Path(model.__file__).parent
X = {"name": "x", "shape": ["batch", 8]}
ROWS = {"name": "x", "shape": ["batch", "seq", 8]}
IDS = {"name": "ids", "shape": ["batch", "seq"]}
BATCH = {"batch": {"min": 1, "max": 8}}
SEQUENCES = {**BATCH, "seq": {"min": 1, "max": 16}}


@dataclass(frozen=True)
class Case:
    """A mistake in the declaration of a model."""

    name: str
    factory: str
    inputs: Sequence[Mapping[str, Any]]
    dims: Mapping[str, Any]
    reason: Reason
    says: Sequence[str]
    advises: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    is_slow: bool = False
    """Whether the verification looks for values that show something; the case is nightly."""

    def __str__(self) -> str:
        return self.name


MASK = {"name": "mask", "dtype": "int64", "shape": ["batch", "seq"], "range": [0, 0]}
CASES = [
    Case(
        "a mask that masks everything", "Masks", [ROWS, MASK], SEQUENCES,
        Reason.OUTPUT_NOT_COMPARED, ["was NaN in all elements of all samples"],
        "kind: AttentionMask", is_slow=True,
    ),
    Case(
        "a dim that is too small", "Convolves", [{"name": "x", "shape": ["batch", 1, "seq"]}],
        SEQUENCES, Reason.INPUTS_MISMATCH, ["at batch=1, seq=1", "succeed with seq from 5 on"],
        "Set dims.seq.min: 5",
    ),
    Case(
        "ids without a dtype", "Embeds", [IDS], SEQUENCES, Reason.INPUTS_MISMATCH,
        ["ids: float32", "succeed with ids of type int64", "model.py:"],
        "Set dtype: int64 for input ids",
    ),
    Case(
        "ids that are too large", "Embeds", [{**IDS, "dtype": "int64", "range": [0, 120]}],
        SEQUENCES, Reason.INPUTS_MISMATCH, ["succeed with ids up to 99"],
        "Set range: [0, 99] for input ids",
    ),
    Case(
        "a misspelled argument", "build", [X], BATCH, Reason.FACTORY_FAILED,
        ["model:build raised", "unexpected keyword argument 'widht'"],
        "model.kwargs (given: widht)", kwargs={"widht": 8},
    ),
    Case(
        "an argument of another checkpoint", "build", [X], BATCH, Reason.STATE_DICT_MISMATCH,
        ["layer.weight: float32 (2, 8) in the checkpoint, float32 (2, 16) in the module"],
        "model.kwargs", kwargs={"width": 16},
    ),
]  # fmt: skip


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.nightly] if case.is_slow else [])
        for case in CASES
    ],
)
def test_a_mistake(case: Case, tmp_path: Path) -> None:
    torch.save(getattr(model, case.factory)().state_dict(), tmp_path / "model.pt")
    manifest = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "wrong"},
        "spec": {
            "source": {"uri": f"file://{tmp_path}/model.pt"},
            "model": {
                "factory": f"model:{case.factory}",
                "kwargs": case.kwargs,
                "code": {"uri": f"file://{CODE}/"},
            },
            "inputs": [dict(entry) for entry in case.inputs],
            "dims": dict(case.dims),
            "verification": {"provider": "CPU", "benchmark": False},
            "destination": {"uri": f"file://{tmp_path}/out/"},
        },
    }
    failure = run(parse(manifest), Settings(tmp_path / "work"), Lines()).failure
    assert failure is not None
    assert failure.reason is case.reason, failure
    assert [words for words in case.says if words not in failure.message] == [], failure.message
    assert case.advises in failure.hint, failure.hint
