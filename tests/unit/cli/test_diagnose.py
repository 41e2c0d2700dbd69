"""The output of `modelexport diagnose`, and the plugins that it writes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, Format
from modelexport_api.status import Failure, Stage, Support
from modelexport_cli.diagnose import print_diagnosis, write_skeletons
from modelexport_cli.main import main
from modelexport_exporter.core.diagnosis import (
    DiagnosedOp,
    DiagnosedPitfall,
    Diagnosis,
    RouteDiagnosis,
)
from modelexport_exporter.core.pitfall import PitfallKind

OP = DiagnosedOp(
    name="mine::fused.default",
    count=2,
    module="encoder.0",
    source="m.py:7",
    support=Support.NEEDS_PLUGIN,
    hint="Translate it.",
    skeleton_file="onnx_fused.py",
    skeleton="custom_translation_table = {}\n",
)
OPEN = RouteDiagnosis(route=Exporter.TORCH_SCRIPT)
CLOSED = RouteDiagnosis(route=Exporter.DYNAMO, unsupported=[OP])
RANDOM = DiagnosedPitfall(
    kind=PitfallKind.NOT_DETERMINISTIC, message="two runs differ", source="m.py:9", suggestion="Do."
)
FAILURE = Failure(
    reason=Reason.FACTORY_FAILED, message="it raised", hint="Correct it.", stage=Stage.LOAD
)
CASES = {
    "exportable": (
        Diagnosis(
            format=Format.STATE_DICT, routes=[CLOSED, OPEN], predicted_route=Exporter.TORCH_SCRIPT
        ),
        0,
        ("mine::fused.default", "encoder.0", "m.py:7", "Translate it.", "no problem found"),
    ),
    "no route": (Diagnosis(routes=[CLOSED]), 13, ("no route can export",)),
    "another attempt": (
        Diagnosis(
            routes=[CLOSED], predicted_route=Exporter.DYNAMO, predicted_attempt="DynamoByValue"
        ),
        0,
        ("expected to use the attempt DynamoByValue",),
    ),
    "random": (
        Diagnosis(routes=[OPEN], pitfalls=[RANDOM], predicted_route=Exporter.TORCH_SCRIPT),
        13,
        ("two runs differ", "m.py:9", "would fail"),
    ),
    "not loaded": (Diagnosis(failure=FAILURE), 12, ("FactoryFailed in Load", "Correct it.")),
    "route failed": (
        Diagnosis(routes=[RouteDiagnosis(route=Exporter.DYNAMO, failure=FAILURE)]),
        13,
        ("Dynamo: FactoryFailed", "it raised"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_printed_diagnosis(name: str) -> None:
    diagnosis, code, expected = CASES[name]
    stream = io.StringIO()
    print_diagnosis(diagnosis, Console(file=stream, width=160))
    assert [part for part in expected if part not in stream.getvalue()] == []
    assert diagnosis.exit_code == code


def test_an_existing_plugin_is_not_overwritten(tmp_path: Path) -> None:
    diagnosis = Diagnosis(routes=[CLOSED, CLOSED])
    assert write_skeletons(diagnosis, tmp_path / "new") == [tmp_path / "new" / "onnx_fused.py"]
    (tmp_path / "new" / "onnx_fused.py").write_text("edited")
    assert write_skeletons(diagnosis, tmp_path / "new") == []
    assert (tmp_path / "new" / "onnx_fused.py").read_text() == "edited"


def test_an_invalid_manifest_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.yaml").write_text("kind: ModelExport\n")
    assert main(["diagnose", str(tmp_path / "m.yaml")]) == 10
    assert "m.yaml" in capsys.readouterr().err
