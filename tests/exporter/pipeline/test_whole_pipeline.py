"""The pod's process with the real workers, from a checkpoint to a published artifact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from exporter.pipeline.pod_process import run_pod
from modelexport_api.isolation import Network
from modelexport_api.pod import parse_log_line
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Storage
from modelexport_api.status import Stage
from modelexport_exporter.storage.store import Location

CODE = b"""\
import torch

print("a factory may print")


def build():
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
"""


@pytest.mark.parametrize(
    "root",
    ["file", "pvc", pytest.param("s3", marks=[pytest.mark.s3, pytest.mark.nightly])],
    indirect=True,
)
def test_a_small_model(
    root: str, storage: Storage, place: Callable[..., Location], tmp_path: Path
) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    torch.save(module.state_dict(), tmp_path / "model.pt")
    checkpoint = place("run/model.pt")
    checkpoint.store.write(checkpoint.key, (tmp_path / "model.pt").read_bytes())
    code = place("code/small_net.py")
    code.store.write(code.key, CODE)
    resource = ModelExport.model_validate(
        {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": "small"},
            "spec": {
                "source": {"uri": f"{root}run/model.pt"},
                "storage": storage.to_wire(),
                "model": {"factory": "small_net:build", "code": {"uri": f"{root}code/"}},
                "inputs": [{"name": "x", "shape": ["batch", 4]}],
                "dims": {"batch": {"max": 16}},
                "outputs": ["y"],
                "destination": {"uri": f"{root}out"},
            },
        }
    )
    done, result = run_pod(resource.to_wire(), tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    lines = [parse_log_line(line) for line in done.stderr.splitlines()]
    assert all(lines), "every line of the log is structured, whatever user code prints"
    stages = [line.progress.stage for line in lines if line and line.progress]
    assert list(dict.fromkeys(stages)) == list(Stage)
    assert result.artifact is not None
    assert result.artifact.uri == f"{root}out/model.onnx"
    assert result.verification is not None
    latency = result.verification.latency_ms
    assert latency is not None, "measured by default"
    assert latency.dims == {"batch": 16}
    assert 0 < latency.onnx.median <= latency.onnx.p95
    assert 0 < latency.eager.median <= latency.eager.p95
    isolation = result.verification.isolation
    assert isolation is not None
    assert isolation.network is Network.CLOSED, "nobody opened it"
    assert isolation.missing == []
    model = place("out/model.onnx")
    answer = model.store.read(model.key)
    assert answer is not None
    session = onnxruntime.InferenceSession(answer[0], providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).normal(size=(11, 4)).astype(np.float32)
    (found,) = session.run(["y"], {"x": x})
    np.testing.assert_allclose(found, module(torch.from_numpy(x)).detach(), atol=1e-5)
