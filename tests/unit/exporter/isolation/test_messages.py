"""What workers send: it arrives as it was, or it is refused with a sentence."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage, Support, UnsupportedOp, Verdict, VerificationResult
from modelexport_exporter.core.blame import Blame, ReproFile
from modelexport_exporter.core.comparison import (
    OutputComparison,
    Problem,
    ProblemKind,
    SampleComparison,
)
from modelexport_exporter.core.errors import (
    ExportFailure,
    Incurable,
    NotDeterministic,
    RouteFallback,
    VaryingOutputs,
)
from modelexport_exporter.core.outcome import NotCompared, Unreached, VerificationOutcome
from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.core.types import (
    ConvertedModel,
    FactoryProgress,
    SizeGuard,
    StageResult,
    WrittenFile,
)
from modelexport_exporter.isolation import messages
from modelexport_exporter.isolation.messages import (
    CrashMessage,
    FailureMessage,
    InvalidMessageError,
    Lines,
    ProgressMessage,
    ResultMessage,
)

CONVERTED = ConvertedModel(
    model_path=Path("/w/model.onnx"),
    files=(WrittenFile("model.onnx", 3, "ab"),),
    opset=20,
    ir_version=10,
    exporter="Dynamo",
    inputs=(),
    outputs=(),
    op_counts={"Gemm": 1},
    guards=(SizeGuard("n != 50", "", ({"n": 50},)),),
)
COMPARED = OutputComparison("y", math.inf, math.nan, 1e-4, Problem(ProblemKind.VALUES, "off"))
OUTCOME = VerificationOutcome(
    summary=VerificationResult(
        verdict=Verdict.MISMATCH,
        provider="CPU",
        samples=1,
        max_abs_error=math.inf,
        max_rel_error=-math.inf,
        tolerance_source="Default",
    ),
    samples=(SampleComparison({"n": 3}, 0, (COMPARED,)),),
    seconds=0.5,
    blame=Blame("n", repro=(ReproFile("inputs.npz", bytes(range(256))),)),
    output_shapes={"y": ("n", 4)},
    not_compared=(NotCompared(Unreached.SIDE, "net.py:1"),),
    converted=CONVERTED,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (CONVERTED, ConvertedModel),
        (OUTCOME, VerificationOutcome),
        (("a", "b"), tuple[str, ...]),
        (None, type(None)),
        ("line\nfeed \N{LINE SEPARATOR}", str),
    ],
)
def test_a_result_arrives_as_it_was(value: object, expected: type[object]) -> None:
    line = messages.encode_result(value, expected)
    assert line.index(b"\n") == len(line) - 1
    found = messages.decode(line[:-1], expected)
    assert isinstance(found, ResultMessage)
    assert repr(found.value) == repr(value)


def test_numbers_of_numpy_arrive_as_those_of_python() -> None:
    numbers: dict[str, Any] = {"errors": np.int64(3), "limit": np.float32(0.5)}
    numbers |= {"noise": np.float64(1), "all_nan": np.bool_(True)}
    line = messages.encode_result(replace(COMPARED, **numbers), OutputComparison)
    found = messages.decode(line[:-1], OutputComparison)
    assert isinstance(found, ResultMessage)
    assert (found.value.errors, found.value.limit, found.value.noise) == (3, 0.5, 1.0)
    assert found.value.all_nan is True


def test_half_a_surrogate_pair_arrives_as_text() -> None:
    found = messages.decode(messages.encode_result("f\udc80.py", str)[:-1], str)
    assert isinstance(found, ResultMessage)
    assert found.value == "f\\udc80.py"


@pytest.mark.parametrize(
    "kind", [ExportFailure, RouteFallback, Incurable, NotDeterministic, VaryingOutputs]
)
def test_a_failure_keeps_its_class_and_fields(kind: type[ExportFailure]) -> None:
    failure = kind(
        Reason.UNSUPPORTED_OPERATOR,
        "no",
        "yes",
        stage=Stage.CAPTURE,
        ops=(UnsupportedOp(name="aten::x", count=2, support=Support.DECOMPOSABLE),),
        sources=("net.py:1",),
    )
    failure.pitfalls = (Pitfall(PitfallKind.NUMPY, "m", "net.py:1", "s"),)
    found = messages.decode(messages.encode_failure(failure)[:-1], str)
    assert isinstance(found, FailureMessage)
    assert type(found.failure) is kind
    assert found.failure.args == failure.args
    assert vars(found.failure) == vars(failure)


@pytest.mark.parametrize(
    "message", ["plain", FactoryProgress("calling"), StageResult("4 nodes", 0.5)]
)
def test_progress_keeps_its_class(message: str) -> None:
    found = messages.decode(messages.encode_progress(Stage.LOAD, 0.5, message)[:-1], str)
    assert isinstance(found, ProgressMessage)
    assert (found.stage, found.fraction) == (Stage.LOAD, 0.5)
    assert type(found.message) is type(message)
    assert found.message == message
    if isinstance(message, StageResult):
        assert found.seconds == message.seconds


def test_a_crash_has_its_traceback() -> None:
    found = messages.decode(messages.encode_crash("KeyError: 1", "Traceback")[:-1], str)
    assert found == CrashMessage(message="KeyError: 1", traceback="Traceback")


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (b"", "Invalid JSON"),
        (b"\x80\x04cos\nsystem", "Invalid JSON"),
        (b"[" * 1000, "recursion"),
        (b"1" * 5000, "out of range"),
        (b'{"kind":"result","value":[' + b"0," * messages.MOST_VALUES + b"0]}", "values"),
        (b'{"kind":"result","value":' + b'{"files":[' + b"{}," * 99 + b"0]}}", "errors"),
        (b'{"kind":"class","value":1}', "kind"),
        (b'{"kind":"result","value":1,"class":"os.system"}', "model_path|dictionary|object"),
        (messages.encode_result("text", str), "object"),
        (messages.encode_result(OUTCOME, VerificationOutcome), "errors|required"),
    ],
)
def test_anything_else_is_refused(line: bytes, wrong: str) -> None:
    with pytest.raises(InvalidMessageError, match=wrong):
        messages.decode(line.strip(), ConvertedModel)


@pytest.mark.parametrize("reason", [Reason.INTERRUPTED, Reason.DESTINATION_DENIED])
def test_a_worker_does_not_speak_for_the_supervisor(reason: Reason) -> None:
    line = messages.encode_failure(ExportFailure(reason, "no"))
    with pytest.raises(InvalidMessageError, match=reason.value):
        messages.decode(line, str)


def test_lines_are_cut_wherever_the_data_was() -> None:
    lines = Lines()
    found = [line for byte in b"one\n\ntwo\nthr" for line in lines.add(bytes([byte]))]
    assert found == [b"one", b"", b"two"]
    assert not lines.is_empty
    assert lines.add(b"ee\n") == [b"three"]
    assert lines.is_empty


def test_a_line_has_a_longest_length() -> None:
    lines = Lines(longest=8)
    lines.add(b"12345678\n1234")
    with pytest.raises(InvalidMessageError, match="end of line"):
        lines.add(b"56789")
