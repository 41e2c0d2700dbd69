"""What the runtime lacks, by name."""

from __future__ import annotations

from modelexport_api.status import Stage
from modelexport_exporter.isolation.messages import FailureMessage, decode, encode_failure
from modelexport_exporter.plugins.runtime import (
    UnknownOperator,
    foreign_operators,
    unknown_operator,
)


def test_operator_is_read_from_onnxruntimes_message() -> None:
    message = "[ONNXRuntimeError] : 1 : FAIL : Fatal error: my.domain:Foo(-1) is not a registered "
    assert unknown_operator(f"{message}function/op") == "my.domain::Foo"
    assert unknown_operator("Type Error: Type 'tensor(double)' of input") == ""


def test_operator_with_a_body_is_not_foreign() -> None:
    counts = {"Add": 3, "aten::erfinv": 2, "custom::Foo": 1, "com.microsoft::Gelu": 1}
    findings = foreign_operators(counts, frozenset({"custom::Foo"}))
    assert [finding.subject for finding in findings] == ["operator aten::erfinv"]
    assert findings[0].obtained.startswith("2 nodes of domain aten")


def test_the_failure_reaches_the_supervisor() -> None:
    failure = UnknownOperator("my.domain::Foo")
    failure.stage = Stage.VERIFY
    received = decode(encode_failure(failure), object)
    assert isinstance(received, FailureMessage)
    assert "my.domain::Foo" in received.failure.message
    assert received.failure.stage is Stage.VERIFY
