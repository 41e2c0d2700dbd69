"""How the answer of an export's process becomes a result or an error."""

from __future__ import annotations

import os
import pickle
from datetime import UTC, datetime
from pathlib import Path

import pytest

from modelexport.child import import_path, in_python, result_of
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import Failure, ModelExportStatus
from modelexport_cli.export_error import ExportError
from modelexport_cli.status import status_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def answer(failure: Failure | None, report: str | None = None) -> bytes:
    outcome = "Failed" if failure else "Succeeded"
    result = PodResult.model_validate(
        {"outcome": outcome, "failure": failure, "report_uri": report}
    )
    return status_of(result, NOW, NOW, None).model_dump_json(by_alias=True).encode()


def test_a_success_is_a_result() -> None:
    assert isinstance(result_of(answer(None), 0, []).status, ModelExportStatus)


def test_a_failure_is_an_error_with_reason_message_and_hint(tmp_path: Path) -> None:
    report = tmp_path / "a b" / "report.json"
    report.parent.mkdir()
    report.write_text('{"verdict": "Mismatch"}')
    report.with_name("report.html").write_text('<p class="verdict">Mismatch</p>')
    failure = Failure(reason=Reason.VERIFICATION_FAILED, message="they differ", hint="correct it")
    with pytest.raises(ExportError) as caught:
        result_of(answer(failure, report.as_uri()), 1, [])
    error = caught.value
    assert (error.reason, error.message, error.hint) == (
        "VerificationFailed",
        "they differ",
        "correct it",
    )
    assert str(error) == "VerificationFailed: they differ\nHint: correct it"
    assert error.report_path == report
    assert error.report == {"verdict": "Mismatch"}
    assert "&lt;p class=&quot;verdict&quot;&gt;" in str(error._repr_html_())


def test_an_error_passes_between_processes() -> None:
    error = pickle.loads(pickle.dumps(ExportError("OutOfMemory", "too large", "use less")))
    assert (error.reason, error.message, error.hint) == ("OutOfMemory", "too large", "use less")


def test_an_error_without_a_report() -> None:
    error = ExportError("InvalidManifest", "wrong")
    assert str(error) == "InvalidManifest: wrong"
    assert (error.report_path, error.report, error._repr_html_()) == (None, None, None)


def test_a_wrong_argument_is_not_called_a_wrong_command() -> None:
    failure = Failure(reason=Reason.INVALID_MANIFEST, message="no", hint="modelexport export -h")
    with pytest.raises(ExportError) as caught:
        result_of(answer(failure), 2, [])
    assert "help(modelexport.export)" in caught.value.hint


@pytest.mark.parametrize(
    ("exit_code", "expected"),
    [(1, "exited with 1; it printed:\nlast"), (-9, "was ended by signal 9; it printed:\nlast")],
)
def test_a_process_without_an_answer(exit_code: int, expected: str) -> None:
    with pytest.raises(ExportError, match="WorkerDied") as caught:
        result_of(b"", exit_code, ["first\n"] * 30 + ["last\n"])
    assert caught.value.message.count("first") == 19
    assert expected.splitlines()[0] in caught.value.message
    assert caught.value.message.endswith("last")


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("Correct the model.", "Correct the model."),
        ("State the inputs: --input 'x:float32[2]'", 'State the inputs: inputs=["x:float32[2]"]'),
        ("State: --input 'x' --input 'y:int64'", 'State: inputs=["x", "y:int64"]'),
    ],
)
def test_hints_name_arguments_and_not_options(hint: str, expected: str) -> None:
    assert in_python(hint) == expected


def test_the_process_finds_what_this_one_finds() -> None:
    path = import_path(["", "/a", "/b/../c", "/a"])
    assert path == os.pathsep.join([str(Path.cwd()), "/a", "/c"])
