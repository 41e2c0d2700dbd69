"""Options that are refused at admission, or gone: by name, with what there is instead."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.resource import ManifestError, parse
from seeds.case import Case, tensor
from seeds.harness import Bench, manifest
from seeds.recording import Finding, Outcome

ROWS = (tensor("x", "batch", 6),)
FEW = {"batch": (1, 40)}
CASE = Case("E1", "refused", "plain_models:perceptron", ROWS, FEW)


def changed(path: str, value: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a manifest with one field of the spec, `a.b`, replaced."""
    document = copy.deepcopy(manifest(CASE, Path("/checkpoint.pt"), Path("/artifact")))
    *parents, last = path.split(".")
    place = document["spec"]
    for parent in parents:
        place = place[int(parent)] if parent.isdigit() else place.setdefault(parent, {})
    place[last] = value
    return document


@pytest.mark.parametrize(
    ("rows", "name", "change", "words"),
    [
        ("C32", "str_input", ("inputs.0.dtype", "string"), ["spec.inputs", "strings", "Constant"]),
        ("C36", "opset_6", ("export.opset", 6), ["opset", "7"]),
        ("C36", "opset_99", ("export.opset", 99), ["opset", "25"]),
        (
            "C36",
            "opset_21_scripted",
            ("export", {"opset": 21, "exporter": "TorchScript"}),
            ["Dynamo"],
        ),
        (
            "C36",
            "opset_17_dynamo",
            ("export", {"opset": 17, "exporter": "Dynamo"}),
            ["TorchScript"],
        ),
        ("C45 E1", "modules_as_functions", ("export.exportModulesAsFunctions", True), []),
        ("C42 E1", "fallback", ("export.fallback", True), []),
        ("C43 E1", "verify", ("export.verify", True), []),
        ("C44 E1", "profile", ("export.profile", True), []),
        ("C44 E1", "dump_exported_program", ("export.dumpExportedProgram", True), []),
        (
            "C25 E11 E1",
            "aten",
            ("export.unsupportedOps", "ONNX_ATEN"),
            ["unsupportedOps", "FallThrough"],
        ),
        ("C38 E11 E1", "preserve", ("model.training", "PRESERVE"), ["training"]),
        ("C21", "opset_of_a_domain", ("export.customOpsets", {"a domain": 1}), ["customOpsets"]),
    ],
)
def test_refused_at_admission(
    rows: str, name: str, change: tuple[str, object], words: list[str], bench: Bench
) -> None:
    path, value = change
    with pytest.raises(ManifestError) as refusal:
        parse(changed(path, value))
    text = str(refusal.value)
    for word in words or [path.rpartition(".")[2]]:
        assert word in text
    reason = Reason.INVALID_MANIFEST.value
    bench.recorder.add(Finding(tuple(rows.split()), f"no_{name}", Outcome.REFUSED, reason))
