"""The fork server that tests share: what it cannot import, it would pass over in silence."""

from __future__ import annotations

from typing import TypeVar

import pytest

from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation import worker

T = TypeVar("T")


@pytest.mark.usefixtures("torch_workers")
def test_a_worker_finds_everything_imported_and_onnxruntime_missing() -> None:
    found = _run("small_workers:imported", list[str])
    assert "warm_workers" in found
    assert "onnxruntime" not in found


@pytest.mark.usefixtures("torch_workers")
def test_a_worker_may_use_a_gpu() -> None:
    assert _run("small_workers:may_use_a_gpu", bool)


def _run(entry: str, expected: type[T]) -> T:
    return worker.run(
        entry,
        (),
        expected,
        on_progress=lambda *_: None,
        on_output=lambda _: None,
        memory=MemoryWatch(),
    )
