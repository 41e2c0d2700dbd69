"""Mode Verify on both kinds of store: its results, and that nothing else is published."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Storage
from modelexport_api.status import Stage
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.storage.store import Location

pytestmark = pytest.mark.usefixtures("torch_workers")

Place = Callable[..., Location]
Ask = Callable[..., ModelExport]

CODE = b"""\
import torch


def build():
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
"""
CHECKED = [Stage.FETCH, Stage.LOAD, Stage.CONTRACT, Stage.VERIFY]


def network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    layers = (torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    return torch.nn.Sequential(*layers).eval()


def checkpoint(seed: int, path: Path) -> bytes:
    torch.save(network(seed).state_dict(), path)
    return path.read_bytes()


def foreign(seed: int, path: Path, opset: int = 17) -> bytes:
    """The network as another exporter writes it: other names, another opset."""
    torch.onnx.export(
        network(seed),
        (torch.zeros(3, 4),),
        str(path),
        dynamo=False,
        opset_version=opset,
        input_names=["x"],
        output_names=["y"],
        dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},
    )
    return path.read_bytes()


@pytest.fixture
def put(place: Place, tmp_path: Path) -> Callable[[str, bytes], None]:
    def write(name: str, content: bytes) -> None:
        where = place(name)
        where.store.write(where.key, content)

    write("code/small_net.py", CODE)
    write("run/model.pt", checkpoint(0, tmp_path / "model.pt"))
    return write


@pytest.fixture
def ask(root: str, storage: Storage) -> Ask:
    def made(**spec: Any) -> ModelExport:  # noqa: ANN401
        return ModelExport.model_validate(
            {
                "apiVersion": "modelexport.dev/v1alpha1",
                "kind": "ModelExport",
                "metadata": {"name": "again"},
                "spec": {
                    "mode": "Verify",
                    "source": {"uri": f"{root}run/model.pt"},
                    "storage": storage.to_wire(),
                    "model": {"factory": "small_net:build", "code": {"uri": f"{root}code/"}},
                    "inputs": [{"name": "x", "shape": ["batch", 4]}],
                    "dims": {"batch": {"max": 16}},
                    "outputs": ["y"],
                    "destination": {"uri": f"{root}repository/small/"},
                    **spec,
                },
            }
        )

    return made


def verify(resource: ModelExport, tmp_path: Path) -> PodResult:
    result = run(resource, Settings(tmp_path / "work"), JsonLog(sys.stderr))
    assert list((tmp_path / "work").iterdir()) == []
    return result


def below(place: Place, name: str) -> dict[str, bytes]:
    where = place(name)
    return {
        item.key.removeprefix(where.key): (where.store.read(item.key) or (b"",))[0]
        for item in where.store.list_all(where.key)
    }


def report_of(place: Place, result: PodResult, before: dict[str, bytes]) -> dict[str, Any]:
    """The report; and nothing else has changed at the destination."""
    after = below(place, "repository/small/")
    new = {name: content for name, content in after.items() if before.get(name) != content}
    assert {name.partition("/")[0] for name in new} == {"verifications"}
    assert {name.rpartition("/")[2] for name in new} == {"report.json", "report.html"}
    assert {name: after[name] for name in before} == before
    (name,) = (name for name in new if name.endswith(".json"))
    assert result.report_uri == place(f"repository/small/{name}").uri
    report: dict[str, Any] = json.loads(new[name])
    return report


def flipped(model: bytes) -> bytes:
    """The file with the sign bit of its largest weight flipped: one bit."""
    proto = onnx.ModelProto.FromString(model)
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    name = max(arrays, key=lambda name: abs(arrays[name]).max() if arrays[name].ndim > 1 else 0)
    array = arrays[name].copy()
    array.flat[abs(array).argmax()] *= -1
    for tensor in proto.graph.initializer:
        if tensor.name == name:
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, name))
    content: bytes = proto.SerializeToString()
    return content


def test_what_was_published_is_verified_again_and_a_changed_bit_is_found(
    place: Place, put: Callable[[str, bytes], None], ask: Ask, tmp_path: Path, root: str
) -> None:
    """From the destination's manifest, in its layout."""
    destination = {"uri": f"{root}repository/small/", "layout": "Triton"}
    first = verify(ask(mode="Export", destination=destination), tmp_path)
    assert first.artifact is not None
    before = below(place, "repository/small/")
    assert "1/model.onnx" in before

    again = verify(ask(), tmp_path)
    assert again.failure is None
    assert again.completed == CHECKED
    assert again.artifact is not None
    assert again.artifact.uri == first.artifact.uri
    assert again.artifact.sha256 == first.artifact.sha256
    report = report_of(place, again, before)
    assert report["verification"]["verdict"] == "Verified"

    put("repository/small/1/model.onnx", flipped(before["1/model.onnx"]))
    tampered = verify(ask(), tmp_path)
    assert tampered.failure is not None
    assert tampered.failure.reason is Reason.ARTIFACT_INVALID
    assert "expected " + first.artifact.sha256 in tampered.failure.message

    changed = verify(ask(artifact={"uri": first.artifact.uri}), tmp_path)
    assert changed.failure is not None
    assert changed.failure.reason is Reason.VERIFICATION_FAILED
    assert changed.completed == CHECKED[:-1]


def test_a_file_of_another_exporter(
    place: Place, put: Callable[[str, bytes], None], ask: Ask, tmp_path: Path, root: str
) -> None:
    """Right for its own checkpoint, whatever its opset; wrong for any other."""
    theirs = foreign(0, tmp_path / "theirs.onnx")
    put("theirs/right.onnx", theirs)
    put("theirs/wrong.onnx", foreign(1, tmp_path / "other.onnx"))
    pin = {"uri": f"{root}theirs/right.onnx", "sha256": hashlib.sha256(theirs).hexdigest()}

    right = verify(ask(artifact=pin), tmp_path)
    assert right.failure is None
    assert right.artifact is not None
    assert right.artifact.exporter.startswith("pytorch")
    report = report_of(place, right, {})
    assert report["findings"] == [{"subject": "opset", "requested": "20", "obtained": "17"}]

    wrong = verify(ask(artifact={"uri": f"{root}theirs/wrong.onnx"}), tmp_path)
    assert wrong.failure is not None
    assert wrong.failure.reason is Reason.VERIFICATION_FAILED
    assert "manifest.json" not in below(place, "repository/small/")


def test_a_file_that_declares_another_shape_than_it_returns(
    place: Place, put: Callable[[str, bytes], None], ask: Ask, tmp_path: Path, root: str
) -> None:
    """A false number is refused, because runtimes fold it; a false name is a finding."""
    theirs = onnx.load_from_string(foreign(0, tmp_path / "theirs.onnx"))
    size = theirs.graph.output[0].type.tensor_type.shape.dim[0]
    size.dim_value = 3
    put("theirs/number.onnx", theirs.SerializeToString())
    size.dim_param = "2*batch"
    put("theirs/name.onnx", theirs.SerializeToString())

    named = verify(ask(artifact={"uri": f"{root}theirs/name.onnx"}), tmp_path)
    assert named.failure is None
    finding = {"subject": "output y dim 0", "requested": "2*batch", "obtained": "1 at batch=1"}
    assert finding in report_of(place, named, {})["findings"]

    refused = verify(ask(artifact={"uri": f"{root}theirs/number.onnx"}), tmp_path)
    assert refused.failure is not None
    assert refused.failure.reason is Reason.CONTRACT_VIOLATED
    assert "output y dim 0: declared 3, returned 1 at batch=1" in refused.failure.message
