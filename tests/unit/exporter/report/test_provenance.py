"""The statement, read with the reference bindings of in-toto and SLSA."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement

from modelexport_api.status import ArtifactFile, Verdict, VerificationResult
from modelexport_exporter.core.dependency import Dependency
from modelexport_exporter.report.provenance import PREDICATE_TYPE, statement
from modelexport_exporter.report.report import Environment, Report, ReportSource

FILES = [
    ArtifactFile(name="1/model.onnx", sha256="a" * 64, size_bytes=1),
    ArtifactFile(name="report.json", sha256="b" * 64, size_bytes=2),
]


def report(**changes: Any) -> Report:  # noqa: ANN401
    facts = {
        "outcome": "Succeeded",
        "name": "m",
        "uid": "uid-1",
        "spec": {"outputs": ["y"], "dims": {"n": {"min": 1}}},
        "spec_sha256": "c" * 64,
        "source": ReportSource(
            uri="s3://b/run/",
            files=[ArtifactFile(name="model.safetensors", sha256="d" * 64, size_bytes=3)],
        ),
        "started": datetime(2026, 1, 1, tzinfo=UTC),
        "finished": datetime(2026, 1, 1, 0, 1, tzinfo=UTC),
        "verification": VerificationResult(
            verdict=Verdict.VERIFIED,
            provider="CPU",
            samples=9,
            max_abs_error=1e-6,
            max_rel_error=1e-7,
            tolerance_source="Calibrated",
        ),
        "environment": Environment(versions={"torch": "2"}, python="3", platform="l", cpus=2),
        "peak_memory_bytes": 0,
    }
    return Report(**{**facts, **changes})


CODE = Dependency("s3://b/code.zip", {"modelexport.dev/directory-v1": "e" * 64})


def predicate(content: bytes) -> Any:  # noqa: ANN401
    read = json_format.Parse(content, statement_pb2.Statement())
    Statement(read.subject, read.predicate_type, read.predicate).validate()
    text = json_format.MessageToJson(read.predicate)
    return read, json_format.Parse(text, provenance_pb2.Provenance())


def test_in_toto_and_slsa_accept_it() -> None:
    read, provenance = predicate(statement(report(), FILES, [CODE]))
    assert read.type == "https://in-toto.io/Statement/v1"
    assert read.predicate_type == PREDICATE_TYPE
    assert {entry.name: entry.digest["sha256"] for entry in read.subject} == {
        "1/model.onnx": "a" * 64,
        "report.json": "b" * 64,
    }
    built, run = provenance.build_definition, provenance.run_details
    assert [(entry.uri, dict(entry.digest)) for entry in built.resolved_dependencies] == [
        ("s3://b/run/model.safetensors", {"sha256": "d" * 64}),
        ("s3://b/code.zip", {"modelexport.dev/directory-v1": "e" * 64}),
    ]
    assert json_format.MessageToDict(built.external_parameters)["spec"]["outputs"] == ["y"]
    assert run.builder.version == {"torch": "2"}
    assert run.metadata.invocation_id == "uid-1"
    assert run.metadata.finished_on.ToJsonString() == "2026-01-01T00:01:00Z"
    (byproduct,) = run.byproducts
    verdict = json_format.MessageToDict(byproduct.annotations)["verification"]
    assert (byproduct.name, verdict["verdict"]) == ("report.json", "Verified")


def test_one_file_is_its_own_uri_and_a_local_run_has_no_invocation() -> None:
    source = ReportSource(
        uri="file:///run/model.pt",
        files=[ArtifactFile(name="model.pt", sha256="d" * 64, size_bytes=3)],
    )
    _, provenance = predicate(statement(report(uid=None, source=source), FILES, []))
    (checkpoint,) = provenance.build_definition.resolved_dependencies
    assert checkpoint.uri == "file:///run/model.pt"
    assert provenance.run_details.metadata.invocation_id == ""


def test_the_same_facts_are_the_same_bytes() -> None:
    one, other = statement(report(), FILES, [CODE]), statement(report(), FILES[::-1], [CODE])
    assert one == other
    assert json.loads(one)["subject"][0]["name"] == "1/model.onnx"
