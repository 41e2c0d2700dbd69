from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelexport_api.pod import MANIFEST_ENV, MAX_TERMINATION_BYTES, PodResult, parse_log_line
from modelexport_api.reasons import ExitCode, Reason
from modelexport_exporter.__main__ import TERMINATION_LOG_ENV, main


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (None, "MODELEXPORT_MANIFEST is not set"),
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[]", "not a YAML mapping"),
        ("{}", "metadata"),
        (json.dumps({"metadata": {"name": "x"}, "spec": {"bogus": 1}}), "spec.bogus"),
    ],
)
def test_a_bad_manifest_is_typed(
    manifest: str | None,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = tmp_path / "termination-log"
    monkeypatch.setenv(TERMINATION_LOG_ENV, str(message))
    monkeypatch.delenv(MANIFEST_ENV, raising=False)
    if manifest is not None:
        monkeypatch.setenv(MANIFEST_ENV, manifest)

    assert main() == ExitCode.MANIFEST

    text = message.read_text()
    assert len(text.encode()) <= MAX_TERMINATION_BYTES
    failure = PodResult.model_validate_json(text).failure
    assert failure is not None
    assert failure.reason is Reason.INVALID_MANIFEST
    assert said in failure.message
    line = parse_log_line(capsys.readouterr().err.strip())
    assert line is not None
    assert line.level == "error"
