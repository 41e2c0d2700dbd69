"""Work that was done is recognised, other work is not, and damaged bytes are no work at all."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.status import Verdict
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from seeds.harness import Lines

CODE = """\
import torch


def build():
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64))
"""


class Bench:
    """A model in a directory, and its exports to one destination."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.checkpoint = directory / "model.pt"
        (directory / "code").mkdir()
        (directory / "code" / "normed.py").write_text(CODE)
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64))
        torch.save(module.state_dict(), self.checkpoint)

    def export(self, **model: object) -> PodResult:
        spec = {
            "source": {"uri": self.checkpoint.as_uri()},
            "model": {
                "factory": "normed:build",
                "code": {"uri": f"{(self.directory / 'code').as_uri()}/"},
                **model,
            },
            "inputs": [{"name": "x", "shape": ["n", 64]}],
            "dims": {"n": {"min": 2, "max": 121}},
            "verification": {"benchmark": False, "provider": "CPU"},
            "destination": {"uri": f"{self.out.as_uri()}/"},
        }
        head = {"apiVersion": "modelexport.dev/v1alpha1", "kind": "ModelExport"}
        resource = ModelExport.model_validate({**head, "metadata": {"name": "x"}, "spec": spec})
        return run(resource, Settings(self.directory / "work"), Lines())

    @property
    def out(self) -> Path:
        return self.directory / "out"

    def answer(self) -> np.ndarray[Any, Any]:
        session = onnxruntime.InferenceSession(self.out / "model.onnx")
        x = np.random.default_rng(0).normal(size=(5, 64)).astype(np.float32)
        found: np.ndarray[Any, Any] = session.run(None, {"x": x})[0]
        return found


@pytest.fixture
def bench(tmp_path: Path, torch_workers: None) -> Bench:
    return Bench(tmp_path)


def test_a_model_in_training_is_not_the_evaluated_one(bench: Bench) -> None:
    first = bench.export()
    assert first.verification is not None
    assert first.verification.verdict is Verdict.VERIFIED
    sizes = [text for text in first.verification.coverage if " 120 sizes of n" in text]
    assert sizes, "as many as the time allowed, or all"
    evaluated = bench.answer()

    assert bench.export().reused, "the same work"
    trained = bench.export(training=True)

    assert not trained.reused
    assert trained.failure is None
    assert abs(bench.answer().mean(0)).max() < 1e-5, "statistics of the batch"
    assert abs(evaluated.mean(0)).max() > 1e-2


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the largest record of a torch file, which stays a right archive."""
    with zipfile.ZipFile(path) as archive:
        records = {entry: archive.read(entry) for entry in archive.infolist()}
    largest = max(records, key=lambda entry: entry.file_size)
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in records.items():
            archive.writestr(entry.filename, change(content) if entry is largest else content)


def truncated(path: Path) -> None:
    rewritten(path, lambda content: content[:-1024])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda entry: entry.file_size)
        place = content.index(archive.read(largest))
    content[place + 5000] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [truncated, flipped])
def test_a_damaged_checkpoint_is_not_published(
    bench: Bench, damage: Callable[[Path], None]
) -> None:
    damage(bench.checkpoint)
    failure = bench.export().failure
    assert failure is not None
    assert failure.reason is Reason.CHECKPOINT_CORRUPT
    assert not (bench.out / "model.onnx").exists()
