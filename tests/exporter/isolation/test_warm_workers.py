"""The fork server that tests share: what it cannot import, it would pass over in silence."""

from __future__ import annotations

import pytest

from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation import worker


@pytest.mark.usefixtures("torch_workers")
def test_a_worker_finds_everything_imported_and_onnxruntime_missing() -> None:
    found = _run("small_workers:imported")
    assert isinstance(found, set)
    assert "warm_workers" in found
    assert "onnxruntime" not in found


@pytest.mark.usefixtures("torch_workers")
def test_a_worker_may_use_a_gpu() -> None:
    assert _run("small_workers:may_use_a_gpu") is True


def _run(entry: str) -> object:
    return worker.run(
        entry,
        (),
        on_progress=lambda *_: None,
        on_output=lambda _: None,
        memory=MemoryWatch(),
    )
