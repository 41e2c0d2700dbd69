"""The pod's process sends one trace, whose settings the model's code does not get."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import torch

from bed.processes import free_port
from exporter.pipeline.pod_process import run_pod
from modelexport_api.pod import PodResult, parse_log_line
from modelexport_api.status import Stage
from modelexport_api.tracing import TRACEPARENT_ENV, context_of_export
from otlp_receiver import receiving

UID = "0f4b7c1e-5f0c-4a51-b1f6-1d8f7c9a0d11"
PARENT = context_of_export(UID)
CODE = """\
import os
import torch

OWN = dict(os.environ)
FIRST = open("/proc/self/environ").read()


def build():
    assert not [name for name in OWN if name.startswith("OTEL_EXPORTER_OTLP_")], OWN
    assert "hidden-token" not in FIRST + str(OWN)
    return torch.nn.Linear(4, 2)
"""


def _export(tmp_path: Path, endpoint: str) -> tuple[PodResult, str]:
    torch.save(torch.nn.Linear(4, 2).state_dict(), tmp_path / "model.pt")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "small_net.py").write_text(CODE)
    resource = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "small", "namespace": "ml", "uid": UID},
        "spec": {
            "source": {"uri": f"file://{tmp_path}/model.pt"},
            "model": {"factory": "small_net:build", "code": {"uri": f"file://{tmp_path}/code/"}},
            "inputs": [{"name": "x", "shape": [1, 4]}],
            "outputs": ["y"],
            "destination": {"uri": f"file://{tmp_path}/out"},
        },
    }
    variables = {
        TRACEPARENT_ENV: PARENT.traceparent,
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=hidden-token",
    }
    done, result = run_pod(resource, tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    return result, done.stderr


def test_stages_are_spans_of_the_operator_s_trace(tmp_path: Path) -> None:
    with receiving() as receiver:
        begun = time.time()
        result, log = _export(tmp_path, receiver.url)
    assert result.outcome == "Succeeded"
    (pod,) = receiver.named("export pod")
    assert int(pod.trace_id, 16) == PARENT.trace_id
    assert int(pod.parent_id, 16) == PARENT.span_id
    assert pod.attributes["modelexport.uid"] == UID
    assert pod.error == ""
    stages = [span for span in receiver.spans if span is not pod]
    assert [span.name for span in sorted(stages, key=lambda span: span.end)] == list(Stage)
    for span in stages:
        assert (span.trace_id, span.parent_id) == (pod.trace_id, pod.span_id)
        assert begun - 1 <= span.start <= span.end <= pod.end + 1
    assert receiver.headers[0]["authorization"] == "hidden-token"
    assert "hidden-token" not in log
    assert not any(b"hidden-token" in body for body in receiver.bodies)


def test_a_collector_that_is_down_changes_nothing(tmp_path: Path) -> None:
    result, log = _export(tmp_path, f"http://127.0.0.1:{free_port()}")
    assert result.outcome == "Succeeded"
    assert all(parse_log_line(line) for line in log.splitlines()), log
    assert "hidden-token" not in log


def test_a_collector_that_is_silent_changes_nothing(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        result, log = _export(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert result.outcome == "Succeeded"
    assert all(parse_log_line(line) for line in log.splitlines()), log
