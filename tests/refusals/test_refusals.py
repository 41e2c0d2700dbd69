"""A refusal names the cause and the line, its advice is new, and the advice works."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from refusals.case import Case
from refusals.cases import CASES
from seeds.harness import Lines

CODE = Path(__file__).parent / "code"
OF_TORCH = re.compile(
    r"file an issue|TORCH_LOGS|unhinted|site-packages|/modelexport_exporter/|0x[0-9a-f]{6}|"
    r"set export\.exporter|leave export\.exporter|Traceback"
)
"""Words of torch's own state, paths of ours, and advice that is in force already."""


def export(case: Case, directory: Path, mended: Mapping[str, Any]) -> tuple[PodResult, int]:
    """Return the result, and how many rungs failed."""
    checkpoint, destination = directory / "model.pt", directory / "artifact"
    module = getattr(importlib.import_module(f"refusals.code.{case.file}"), case.factory)()
    torch.save(module.state_dict(), checkpoint)
    log = Lines()
    result = run(
        ModelExport.model_validate(manifest(case, checkpoint, destination, mended)),
        Settings(directory / "work"),
        log,
    )
    failed = [line for line in log.lines if re.match(r"warning: \w+: [A-Z]\w+: ", line)]
    return result, len(failed)


def manifest(
    case: Case, checkpoint: Path, destination: Path, mended: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the resource, changed as the hint advises."""
    dims: dict[str, Any] = {
        name: {"min": low, "max": high} for name, (low, high) in case.dims.items()
    }
    dims |= mended.get("dims", {})
    changed = {**case.spec, **{key: value for key, value in mended.items() if key != "dims"}}
    model = {"factory": f"{case.file}:{case.factory}", "code": {"uri": f"file://{CODE}/"}}
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "refused"},
        "spec": {
            "source": {"uri": f"file://{checkpoint}"},
            "inputs": [dict(entry) for entry in case.inputs],
            "verification": {"provider": "CPU", "benchmark": False},
            "destination": {"uri": f"file://{destination}/"},
            **changed,
            "dims": {name: dim for name, dim in dims.items() if dim is not None},
            "model": {**model, **changed.get("model", {})},
        },
    }


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=[] if case.attempts else [pytest.mark.nightly])
        for case in CASES
    ],
)
def test_a_refusal(case: Case, tmp_path: Path) -> None:
    if case.factory == "MovesToGpu" and torch.cuda.is_available():
        pytest.skip("this machine has a GPU: the model is not refused")
    result, attempts = export(case, tmp_path, {})
    failure = result.failure
    assert failure is not None
    assert failure.reason is case.reason, failure
    assert [words for words in case.says if words not in failure.message] == [], failure.message
    assert case.advises in failure.hint, failure.hint
    if case.line:
        assert line_of(case) in failure.message
    assert not OF_TORCH.search(f"{failure.message} {failure.hint}"), failure
    assert case.attempts is None or attempts <= case.attempts


@pytest.mark.parametrize("case", [case for case in CASES if case.mended], ids=str)
def test_its_advice_works(case: Case, tmp_path: Path) -> None:
    assert case.mended
    result, _ = export(case, tmp_path, case.mended)
    assert result.failure is None, result.failure


@pytest.mark.parametrize("file", ["refused", "unfit"])
def test_every_model_has_a_case(file: str) -> None:
    code = (CODE / f"{file}.py").read_text()
    classes = re.findall(r"^class (\w+)\(nn\.Module\)", code, re.MULTILINE)
    assert sorted(classes) == sorted(case.factory for case in CASES if case.file == file)


def line_of(case: Case) -> str:
    """Return `refused.py:17`."""
    lines = (CODE / f"{case.file}.py").read_text().splitlines()
    return f"{case.file}.py:{next(n for n, text in enumerate(lines, 1) if case.line in text)}"
