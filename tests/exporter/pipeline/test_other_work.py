"""Each field that changes the work lets the export run again, on either kind of store."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from killed_run import SETTINGS
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.storage.store import Location

Place = Callable[..., Location]
Make = Callable[..., ModelExport]
MODEL = {"factory": "small:build", "kwargs": {"behaviour": ""}}


def write(where: Location, content: bytes) -> None:
    where.store.write(where.key, content)


@pytest.fixture
def reused(place: Place, tmp_path: Path) -> Callable[[ModelExport], bool]:
    """Exports, and says whether the artifact was there."""
    write(place("run/model.pt"), b"weights" * 1000)

    def exported(resource: ModelExport) -> bool:
        settings = Settings(tmp_path / "work", **SETTINGS, preload=("small_workers",))
        result = run(resource, settings, JsonLog(sys.stderr))
        assert result.failure is None, result.failure
        return result.reused

    return exported


@pytest.mark.parametrize(
    "changed",
    [
        {"model": {**MODEL, "training": True}},
        {"model": {**MODEL, "exampleInputs": "small:inputs"}},
        {"source": {"allowPickle": True}},
    ],
    ids=["training", "exampleInputs", "allowPickle"],
)
def test_another_spec_is_other_work(
    reused: Callable[[ModelExport], bool], resource: Make, root: str, changed: dict[str, Any]
) -> None:
    if "source" in changed:
        changed = {"source": {"uri": f"{root}run/model.pt", **changed["source"]}}
    assert not reused(resource())
    assert reused(resource())
    assert not reused(resource(**changed))
    assert reused(resource(**changed))


def test_another_library_at_the_same_place_is_other_work(
    reused: Callable[[ModelExport], bool], resource: Make, place: Place, root: str
) -> None:
    library = place("lib/ops.so")
    asked = {"export": {"runtimeLibraries": [f"{root}lib/ops.so"]}}
    write(library, b"one")
    assert not reused(resource(**asked))
    assert reused(resource(**asked))
    write(library, b"two")
    assert not reused(resource(**asked))


@pytest.mark.parametrize("destination", ["run/onnx/", "run/"], ids=["below", "beside"])
def test_outputs_beside_the_code_are_no_other_work(
    reused: Callable[[ModelExport], bool],
    resource: Make,
    place: Place,
    root: str,
    destination: str,
) -> None:
    write(place("run/net.py"), b"one = 1")
    asked = {
        "model": {**MODEL, "code": {"uri": f"{root}run/"}},
        "destination": {"uri": f"{root}{destination}"},
    }
    assert not reused(resource(**asked))
    write(place("run/env/pyvenv.cfg"), b"an environment")
    assert reused(resource(**asked))
    write(place("run/net.py"), b"two = 2")
    assert not reused(resource(**asked))
    assert reused(resource(**asked))
