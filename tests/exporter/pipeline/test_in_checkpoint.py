"""`export.weights: InCheckpoint` in the pod's process: what is published, and from where."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import safetensors.torch
import torch

from bed.s3 import S3Server
from exporter.pipeline.pod_process import run_pod
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Storage
from modelexport_exporter.publish.manifest import MANIFEST_NAME, Manifest
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Location, Role
from throttling import Throttle

CODE = b"""\
import torch


def build():
    return torch.nn.Sequential(
        torch.nn.Linear(256, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 256)
    )


def words():
    return torch.nn.Sequential(torch.nn.Embedding(1000, 256), torch.nn.Linear(256, 1000))
"""
At = Callable[[str], Location]


def module() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(256, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 256)
    )


def torch_save(state: dict[str, torch.Tensor]) -> bytes:
    content = io.BytesIO()
    torch.save({"step": 7, "state_dict": state}, content)
    return content.getvalue()


def run(at: At, storage: Storage, tmp_path: Path, content: bytes, **spec: Any) -> PodResult:  # noqa: ANN401
    """Export a checkpoint with the code of this test; return the result."""
    for name, part in {"run/model": content, "code/pointed_net.py": CODE}.items():
        at(name).store.write(at(name).key, part)
    resource = ModelExport.model_validate(
        {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": "pointed"},
            "spec": {
                "source": {"uri": at("run/model").uri},
                "storage": storage.to_wire(),
                "model": {
                    "factory": "pointed_net:build",
                    "code": {"uri": at("code/").uri},
                },
                "inputs": [{"name": "x", "shape": ["batch", 3, 256]}],
                "dims": {"batch": {"max": 4}},
                "outputs": ["y"],
                "export": {"weights": "InCheckpoint"},
                "verification": {"benchmark": False},
                "destination": {"uri": at("out/").uri},
                **spec,
            },
        }
    )
    done, result = run_pod(resource.to_wire(), tmp_path)
    (tmp_path / "log").write_text(done.stderr)
    return result


def manifest(at: At) -> Manifest:
    where = at(f"out/{MANIFEST_NAME}")
    answer = where.store.read(where.key)
    assert answer is not None
    return Manifest.model_validate_json(answer[0])


def published(at: At, name: str) -> bytes:
    where = at(f"out/{name}")
    answer = where.store.read(where.key)
    assert answer is not None
    return answer[0]


def get(at: At, directory: Path) -> Path:
    """Get the published set, as a consumer does; return the path of the model."""
    directory.mkdir()
    for file in manifest(at).artifact.files:
        content = published(at, file.name)
        assert hashlib.sha256(content).hexdigest() == file.sha256
        (directory / file.name).write_bytes(content)
    return directory / "model.onnx"


def checkpoint_name(content: bytes) -> str:
    return f"model.{hashlib.sha256(content).hexdigest()[:12]}.data"


def test_onnxruntime_opens_the_published_set(
    root: str, storage: Storage, place: At, tmp_path: Path
) -> None:
    net = module()
    content = torch_save(net.state_dict())

    result = run(place, storage, tmp_path, content)

    assert result.artifact is not None, (tmp_path / "log").read_text()
    path = get(place, tmp_path / "consumer")
    name = checkpoint_name(content)
    assert (path.parent / name).read_bytes() == content, "the checkpoint itself"
    assert torch.load(path.parent / name)["step"] == 7
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).normal(size=(2, 3, 256)).astype(np.float32)
    (found,) = session.run(["y"], {"x": x})
    np.testing.assert_allclose(found, net(torch.from_numpy(x)).detach(), atol=1e-5)
    assert path.stat().st_size < 64 << 10, "no weights are in the model's file"
    files = {file.name for file in result.artifact.files}
    assert {file for file in files if file.endswith(".data")} == {name}


def test_a_checkpoint_of_safetensors(
    root: str, storage: Storage, place: At, tmp_path: Path
) -> None:
    content = safetensors.torch.save(module().state_dict())
    result = run(place, storage, tmp_path, content)
    assert result.artifact is not None, (tmp_path / "log").read_text()
    path = get(place, tmp_path / "consumer")
    assert (path.parent / checkpoint_name(content)).read_bytes() == content
    report = json.loads(published(place, "report.json"))
    (pointed,) = report["inCheckpoint"]["files"]
    assert pointed == {
        "name": checkpoint_name(content),
        "source": "model",
        "tensors": 3,  # the bias of 1,024 bytes stays in the model's file
        "pointedBytes": 4 * (2 * 256 * 2048 + 2048),
    }


def test_a_table_whose_rows_are_looked_up(
    root: str, storage: Storage, place: At, tmp_path: Path
) -> None:
    # Its values are read by the verification itself, which seeks rows that differ.
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Embedding(1000, 256), torch.nn.Linear(256, 1000))
    result = run(
        place,
        storage,
        tmp_path,
        torch_save(net.state_dict()),
        model={"factory": "pointed_net:words", "code": {"uri": place("code/").uri}},
        inputs=[{"name": "ids", "dtype": "int64", "shape": ["batch", "n"], "range": [0, 999]}],
        dims={"batch": {"max": 4}, "n": {"max": 8}},
    )
    assert result.artifact is not None, (tmp_path / "log").read_text()
    assert "attempt 2" not in (tmp_path / "log").read_text()
    session = onnxruntime.InferenceSession(get(place, tmp_path / "consumer"))
    ids = np.array([[0, 999, 7]])
    (found,) = session.run(["y"], {"ids": ids})
    np.testing.assert_allclose(found, net(torch.from_numpy(ids)).detach(), atol=1e-5)


def test_what_is_published_is_no_link_to_the_source(tmp_path: Path) -> None:
    def at(name: str) -> Location:
        return locate(f"file://{tmp_path}/store/{name}", Storage(), Role.DESTINATION)

    content = torch_save(module().state_dict())
    result = run(at, Storage(), tmp_path, content)
    assert result.artifact is not None, (tmp_path / "log").read_text()
    source = tmp_path / "store" / "run" / "model"
    source.write_bytes(b"training goes on")  # into the same inode
    assert published(at, checkpoint_name(content)) == content


@pytest.fixture
def in_s3(proxy: Throttle, bucket: str) -> At:
    def located(name: str) -> Location:
        return locate(f"s3://{bucket}/{name}", Storage(endpoint=proxy.endpoint), Role.DESTINATION)

    return located


@pytest.mark.s3
def test_the_server_copies_the_checkpoint(in_s3: At, proxy: Throttle, tmp_path: Path) -> None:
    content = torch_save(module().state_dict())
    sent: list[int] = []
    proxy.on_answer = lambda method, path: (
        sent.append(proxy.sent_bytes) if method == "GET" and "/run/model" in path else None
    )

    result = run(in_s3, Storage(endpoint=proxy.endpoint), tmp_path, content)

    assert result.artifact is not None, (tmp_path / "log").read_text()
    assert proxy.copied == [f"bytes=0-{len(content) - 1}"]
    assert proxy.sent_bytes - sent[0] < 1 << 20, "documents and the model's file"
    assert published(in_s3, checkpoint_name(content)) == content


@pytest.mark.s3
def test_nothing_is_visible_without_a_verdict(
    in_s3: At, proxy: Throttle, tmp_path: Path, s3: S3Server, bucket: str
) -> None:
    code = CODE.replace(b"torch.nn.ReLU()", b"Noise()") + (
        b"\n\nclass Noise(torch.nn.Module):\n    def forward(self, x):\n"
        b"        return x + torch.rand_like(x)\n"
    )
    content = torch_save(module().state_dict())
    source = in_s3("noise/noisy_net.py")
    source.store.write(source.key, code)
    result = run(
        in_s3,
        Storage(endpoint=proxy.endpoint),
        tmp_path,
        content,
        model={"factory": "noisy_net:build", "code": {"uri": in_s3("noise/").uri}},
    )
    assert result.failure is not None
    assert proxy.copied, "the server had copied it before the verdict"
    names = in_s3("out/").store.names(in_s3("out/").key)
    assert not [name for name in names if name.endswith((".data", ".onnx", ".json"))]
    assert "Uploads" not in s3.client().list_multipart_uploads(Bucket=bucket)


@pytest.mark.s3
def test_a_source_that_is_replaced_meanwhile(
    in_s3: At, proxy: Throttle, tmp_path: Path, s3: S3Server, bucket: str
) -> None:
    content = torch_save(module().state_dict())
    name = checkpoint_name(content)

    def replace(method: str, path: str) -> None:
        if method == "POST" and name in path and "uploads" in path:
            s3.client().put_object(Bucket=bucket, Key="run/model", Body=b"other" * len(content))

    proxy.on_answer = replace

    result = run(in_s3, Storage(endpoint=proxy.endpoint), tmp_path, content)

    assert result.artifact is not None, (tmp_path / "log").read_text()
    assert "is uploaded, not copied by the server" in (tmp_path / "log").read_text()
    assert "was replaced while it was read" in (tmp_path / "log").read_text()
    assert published(in_s3, name) == content, "what was verified, and not what is there now"


@pytest.mark.parametrize("kind", ["legacy", "converted"])
def test_what_cannot_be_pointed_into_is_refused(kind: str, tmp_path: Path) -> None:
    def at(name: str) -> Location:
        return locate(f"file://{tmp_path}/store/{name}", Storage(), Role.DESTINATION)

    buffer = io.BytesIO()
    if kind == "legacy":
        torch.save(module().state_dict(), buffer, _use_new_zipfile_serialization=False)
    else:
        torch.save({name: value.half() for name, value in module().state_dict().items()}, buffer)
    result = run(at, Storage(), tmp_path, buffer.getvalue(), export={"weights": "InCheckpoint"})
    assert result.failure is not None
    assert result.failure.reason is Reason.CONTRACT_VIOLATED
    expected = "legacy pickle" if kind == "legacy" else "0% of the weights' bytes"
    assert expected in result.failure.message
