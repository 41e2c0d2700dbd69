from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelexport_api.pod import (
    LOG_LEVEL_ENV,
    MANIFEST_ENV,
    MAX_TERMINATION_BYTES,
    PodResult,
    parse_log_line,
)
from modelexport_api.reasons import ExitCode, Reason
from modelexport_exporter.pod import TERMINATION_LOG_ENV, run


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

    assert run() == ExitCode.MANIFEST

    text = message.read_text()
    assert len(text.encode()) <= MAX_TERMINATION_BYTES
    failure = PodResult.model_validate_json(text).failure
    assert failure is not None
    assert failure.reason is Reason.INVALID_MANIFEST
    assert said in failure.message
    line = parse_log_line(capsys.readouterr().err.strip())
    assert line is not None
    assert line.level == "error"


@pytest.mark.parametrize(("level", "started"), [("", True), ("info", True), ("warning", False)])
def test_the_process_logs_before_it_imports_and_ends_with_the_code(
    level: str, started: bool
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != MANIFEST_ENV}
    environment[LOG_LEVEL_ENV] = level
    ended = subprocess.run(
        [sys.executable, "-m", "modelexport_exporter"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == ExitCode.MANIFEST
    lines = [parse_log_line(line) for line in ended.stderr.splitlines()]
    assert [line.level for line in lines if line] == [*(["info"] if started else []), "error"]
