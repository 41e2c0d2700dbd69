"""A draw of the hostile files; `python -m chaos hostile_files` tries all of them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from chaos.hostile_files import archives, damaged, honest, onnx_files, pickles, tensors, trial
from chaos.hostile_files.trial import (
    Hostile,
    try_checkpoint,
    try_inspection,
    try_verification,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return honest.make(tmp_path_factory.mktemp("honest"))


@pytest.fixture(autouse=True)
def _beside_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow what a minute alone may take while other processes of pytest compute."""
    monkeypatch.setattr(trial, "MOST_SECONDS", 3 * trial.MOST_SECONDS)


def drawn(made: Iterable[Hostile], count: int, seed: int) -> list[Hostile]:
    return random.Random(seed).sample(list(made), count)


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.parametrize("seed", range(4))
def test_checkpoints(files: Path, tmp_path: Path, seed: int) -> None:
    chosen = [
        *drawn(pickles.hostile(), 3, seed),
        *drawn(archives.hostile(), 3, seed),
        *drawn(tensors.hostile(), 2, seed),
        *drawn(damaged.hostile(files, 0, 1), 2, seed),
    ]
    for hostile in chosen:
        outcome = try_checkpoint(hostile, tmp_path)
        assert outcome.held, outcome


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.parametrize("seed", range(4))
def test_verified_onnx_files(files: Path, tmp_path: Path, seed: int) -> None:
    for hostile in drawn(onnx_files.hostile(), 3, seed):
        outcome = try_verification(hostile, tmp_path, files / "state.pt")
        assert outcome.held, outcome


@pytest.mark.parametrize("seed", range(4))
def test_inspected_onnx_files(tmp_path: Path, seed: int) -> None:
    for hostile in drawn(onnx_files.hostile(), 12, seed):
        outcome = try_inspection(hostile, tmp_path)
        assert outcome.held, outcome


def test_places_of_external_data_are_checked(tmp_path: Path) -> None:
    """onnx's checker takes a tensor that ends beyond the end of its file."""
    outside = [h for h in onnx_files.hostile() if h.name.startswith("external data")]
    assert outside
    for hostile in outside:
        outcome = try_inspection(hostile, tmp_path)
        assert outcome.held, outcome


@pytest.mark.usefixtures("torch_workers")
def test_an_honest_checkpoint_is_taken(files: Path, tmp_path: Path) -> None:
    """Otherwise everything held, whatever it is."""

    def make(directory: Path, _canary: Path) -> Path:
        path = directory / "model.safetensors"
        path.write_bytes((files / "model.safetensors").read_bytes())
        return path

    outcome = try_checkpoint(Hostile("honest", "state", make, may_succeed=True), tmp_path)
    assert outcome.ended == "Succeeded"
    refused = try_checkpoint(Hostile("honest", "state", make), tmp_path)
    assert refused.problems, "a success that is not allowed is noticed"
