"""A run shares the kept layers, and writes into none of the kept databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from bed import node_images


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELEXPORT_TESTBED", str(tmp_path / "cache"))
    root = tmp_path / "cache/containerd"
    (root / "layers").mkdir(parents=True)
    (root / "layers/blob").write_text("a layer")
    (root / "meta.db").write_text("names")
    return root


def test_layers_are_shared_and_databases_are_not(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "cache/containerd.digest").write_text("digest")
    root = tmp_path / "root"
    node_images.copy_to(root)
    assert (root / "layers/blob").samefile(kept / "layers/blob")
    (root / "meta.db").write_text("names of a run")
    assert (kept / "meta.db").read_text() == "names"


def test_what_was_not_kept_whole_is_not_used(kept: Path, tmp_path: Path) -> None:
    assert kept.exists()
    node_images.copy_to(tmp_path / "root")
    assert not (tmp_path / "root").exists()
    assert not node_images.current()
