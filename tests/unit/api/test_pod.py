from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.pod import (
    MAX_TERMINATION_BYTES,
    PodResult,
    encode_termination,
    parse_log_line,
)
from modelexport_api.reasons import EXIT_CODES, PERMANENT_EXIT_CODES, ExitCode, Reason, is_retryable
from modelexport_api.status import (
    Artifact,
    ArtifactFile,
    Failure,
    Stage,
    TensorInfo,
    Verdict,
    VerificationResult,
)

text = st.text(max_size=2048)


def artifact(files: int, tensors: int) -> Artifact:
    return Artifact(
        uri="s3://models/onnx/model.onnx",
        sha256="a" * 64,
        size_bytes=1,
        opset=20,
        ir_version=10,
        exporter="Dynamo (torch 2.15.0)",
        inputs=[TensorInfo(name=f"x{i}", dtype="float32", shape=["n", 3]) for i in range(tensors)],
        outputs=[],
        files=[ArtifactFile(name=f"f{i}", sha256="b" * 64, size_bytes=i) for i in range(files)],
    )


@given(
    message=text,
    hint=st.text(max_size=1024),
    files=st.integers(0, 80),
    tensors=st.integers(0, 200),
    reason=st.sampled_from(Reason),
)
def test_termination_message_always_fits_and_keeps_the_reason(
    message: str, hint: str, files: int, tensors: int, reason: Reason
) -> None:
    result = PodResult(
        outcome="Failed",
        artifact=artifact(files, tensors),
        failure=Failure(reason=reason, message=message, hint=hint, stage=Stage.VERIFY),
    )
    encoded = encode_termination(result)
    assert len(encoded.encode()) <= MAX_TERMINATION_BYTES
    decoded = PodResult.model_validate_json(encoded)
    assert decoded.failure is not None
    assert decoded.failure.reason is reason
    assert decoded.artifact is not None
    assert decoded.artifact.uri == "s3://models/onnx/model.onnx"


def test_a_small_result_is_not_shortened() -> None:
    result = PodResult(outcome="Succeeded", artifact=artifact(3, 2))
    assert PodResult.model_validate_json(encode_termination(result)) == result


def test_the_longest_keys_of_s3_fit() -> None:
    """Three URIs of a key of 1024 bytes and a bucket of 63; the manifest's follows from another."""
    place = f"s3://{'b' * 63}/{'k' * 1012}"
    published = artifact(9, 9).model_copy(
        update={"uri": f"{place}/model.onnx", "manifest_uri": f"{place}/manifest.json"}
    )
    verification = VerificationResult(
        verdict=Verdict.VERIFIED,
        provider="CUDAExecutionProvider",
        samples=123,
        max_abs_error=1.2345678901234567e-5,
        max_rel_error=1.2345678901234567e-5,
        tolerance_source="Default",
    )
    result = PodResult(
        outcome="Succeeded",
        artifact=published,
        verification=verification,
        completed=list(Stage),
        report_uri=f"{place}/{'report' * 60}.json",
        peak_memory_bytes=10**12,
    )
    decoded = PodResult.model_validate_json(encode_termination(result))
    assert decoded.artifact is not None
    assert (decoded.artifact.uri, decoded.report_uri) == (published.uri, result.report_uri)
    assert decoded.verification == verification


def test_only_the_exporter_s_log_lines_are_parsed() -> None:
    line = {
        "time": "2026-01-01T00:00:00Z",
        "level": "info",
        "message": "comparing",
        "progress": {"stage": "Verify", "percent": 80, "message": "sample 3 of 9"},
    }
    parsed = parse_log_line(json.dumps(line))
    assert parsed is not None
    assert parsed.progress is not None
    assert parsed.progress.percent == 80
    for other in ("Downloading…", "{'not': 'json'}", '{"other": "json"}', ""):
        assert parse_log_line(other) is None


@pytest.mark.parametrize("reason", EXIT_CODES)
def test_a_reason_is_retried_by_the_job_exactly_when_its_exit_code_is_not_permanent(
    reason: Reason,
) -> None:
    assert is_retryable(reason) == (EXIT_CODES[reason] not in PERMANENT_EXIT_CODES)


def test_exit_codes_of_a_crashed_interpreter_are_retried() -> None:
    """Python exits with 1 and 2, the kernel and the shell with 126 to 165."""
    assert min(PERMANENT_EXIT_CODES) > 2
    assert max(PERMANENT_EXIT_CODES) < 126
    assert ExitCode.RETRYABLE not in PERMANENT_EXIT_CODES
