"""What a user can get wrong, through the whole pipeline: a reason, a hint, nothing published."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline import run as pipeline
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.publish.manifest import MANIFEST_NAME
from zoo.tasks import CODE

HEAD = {
    "apiVersion": "modelexport.dev/v1alpha1",
    "kind": "ModelExport",
    "metadata": {"name": "bad"},
}
INDEX = "model.safetensors.index.json"
DYNAMO = {"export": {"exporter": "Dynamo"}}
TRACE = {"export": {"exporter": "TorchScript"}}


Run = Callable[[dict[str, Any]], PodResult]


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory, torch_workers: None) -> Run:
    """Run a spec through the whole pipeline."""

    def run_spec(spec: dict[str, Any]) -> PodResult:
        work = tmp_path_factory.mktemp("work")
        resource = ModelExport.model_validate({**HEAD, "spec": spec})
        result = pipeline.run(resource, Settings(work), JsonLog(sys.stderr))
        assert list(work.iterdir()) == [], "the workspace is cleaned up"
        return result

    return run_spec


def spec_in(directory: Path, factory: str = "rude:Plain", **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """A spec that is right, but for the changes; `{}` in their text is the directory."""
    torch.save({"weight": torch.ones(4)}, directory / "model.pt")
    spec = {
        "source": {"uri": "file://{}/model.pt"},
        "model": {"factory": factory, "code": {"uri": f"file://{CODE}/"}},
        "inputs": [{"name": "x", "shape": ["batch", 4]}],
        "dims": {"batch": {"max": 8}},
        "destination": {"uri": "file://{}/out/"},
        "activeDeadlineSeconds": 120,
        **changes,
    }
    text = json.dumps(spec).replace("{}", str(directory))
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def check(result: PodResult, reason: Reason, said: tuple[str, ...], hint: str, out: Path) -> None:
    failure = result.failure
    assert failure is not None
    assert failure.reason is reason, failure
    for part in said:
        assert part in failure.message
    assert failure.hint
    assert hint in failure.hint
    assert "Traceback" not in failure.message
    assert not failure.retryable
    names = {path.name for path in out.rglob("*") if path.is_file()} if out.is_dir() else set()
    assert names <= {"report.html", "report.json"}, "nothing is published but the report"


class Rude(NamedTuple):
    factory: str
    reason: Reason
    said: tuple[str, ...]
    hint: str = ""
    changes: dict[str, Any] = {}  # noqa: RUF012


RUDE = {
    "an argument is missing": Rude(
        "wants_width", Reason.FACTORY_FAILED, ("'width'",), "model.kwargs (given: none)"
    ),
    "the factory interrupts": Rude(
        "interrupts", Reason.FACTORY_FAILED, ("raised KeyboardInterrupt", "rude.py:")
    ),
    "the factory raises what is no Exception": Rude(
        "raises_no_exception", Reason.FACTORY_FAILED, ("raised Interruption: odd", "rude.py:")
    ),
    "an exception cannot be printed": Rude(
        "raises_unprintable", Reason.FACTORY_FAILED, ("UnprintableError", "rude.py:")
    ),
    "a message is no unicode": Rude(
        "raises_half_a_character", Reason.FACTORY_FAILED, (r"bad \udcff name",)
    ),
    "the factory is a property that raises": Rude(
        "lookup.build", Reason.FACTORY_FAILED, ("RuntimeError: not yet", "rude.py:")
    ),
    "the factory closes every file": Rude(
        "closes_everything", Reason.FACTORY_FAILED, ("while model.factory was running",)
    ),
    "the factory ends the process": Rude(
        "ends_the_process", Reason.FACTORY_FAILED, ("exited with code 0",), "must not exit"
    ),
    "the factory hangs": Rude(
        "hangs",
        Reason.DEADLINE_EXCEEDED,
        ("activeDeadlineSeconds",),
        changes={"activeDeadlineSeconds": 2},
    ),
    "the factory dies in verification only": Rude(
        "dies_in_verification",
        Reason.FACTORY_FAILED,
        ("exited with code 7 while model.factory was running",),
    ),
    "forward exits": Rude("Exits", Reason.CAPTURE_FAILED, ("exited with code 0",), "sys.exit"),
    "forward exits, traced": Rude(
        "Exits", Reason.CAPTURE_FAILED, ("exited with code 0",), "sys.exit", TRACE
    ),
    "forward ends the process": Rude(
        "Ends", Reason.CAPTURE_FAILED, ("exited with code 3",), "os._exit"
    ),
    "forward interrupts": Rude(
        "Interrupts", Reason.CAPTURE_FAILED, ("KeyboardInterrupt", "rude.py:")
    ),
    "forward raises what cannot be printed": Rude(
        "Unprintable", Reason.INPUTS_MISMATCH, ("UnprintableError", "rude.py:")
    ),
    "forward returns text": Rude(
        "Text",
        Reason.CONVERSION_FAILED,
        ("output 1 of forward is the str 'label'",),
        "tensors",
        DYNAMO,
    ),
    "forward returns text, traced": Rude(
        "Text", Reason.CONTRACT_VIOLATED, ("an output of forward is a str",), "tensors", TRACE
    ),
    "forward returns nothing": Rude("Nothing", Reason.CONTRACT_VIOLATED, ("no tensor",)),
    "an output has another dtype": Rude(
        "Complex",
        Reason.CONTRACT_VIOLATED,
        ("an output of forward is complex64",),
        "torch.view_as_real",
    ),
    "too many names of outputs": Rude(
        "Plain",
        Reason.CONTRACT_VIOLATED,
        ("requested a, b (2)", "returns 1"),
        changes={"outputs": ["a", "b"], **TRACE},
    ),
}


@pytest.mark.parametrize("name", RUDE)
def test_a_model_that_misbehaves(name: str, run: Run, tmp_path: Path) -> None:
    case = RUDE[name]
    result = run(spec_in(tmp_path, f"rude:{case.factory}", **case.changes))
    check(result, case.reason, case.said, case.hint, tmp_path / "out")


WELL_ROUNDED = {
    "a number beside a tensor is a constant": ("Number", {}, "Dynamo"),
    "a dim of 0 and 1 only": (
        "Plain",
        {"dims": {"batch": {"min": 0, "max": 1}}},
        "TorchScript",
    ),
}


@pytest.mark.parametrize("name", WELL_ROUNDED)
def test_unusual_models_that_are_exported(name: str, run: Run, tmp_path: Path) -> None:
    factory, changes, route = WELL_ROUNDED[name]
    result = run(spec_in(tmp_path, f"rude:{factory}", **changes))
    assert result.failure is None
    assert result.artifact is not None
    assert result.artifact.exporter.startswith(route)


def test_a_factory_that_disturbs_its_process_does_no_harm(run: Run, tmp_path: Path) -> None:
    result = run(spec_in(tmp_path, "rude:disturbs"))
    assert result.failure is None
    assert (tmp_path / "out" / MANIFEST_NAME).exists()


class Wrong(NamedTuple):
    files: dict[str, bytes]
    changes: dict[str, Any]
    reason: Reason
    said: tuple[str, ...]
    hint: str = ""


def source(name: str) -> dict[str, Any]:
    return {"source": {"uri": f"file://{{}}/{name}"}}


def code(name: str) -> dict[str, Any]:
    return {"model": {"factory": "mine:build", "code": {"uri": f"file://{{}}/{name}"}}}


def destination(name: str) -> dict[str, Any]:
    return {"destination": {"uri": f"file://{{}}/{name}"}}


LAZY = b"""
def __getattr__(name):
    try:
        raise %s
    except Exception as error:
        raise ModuleNotFoundError() from error
"""
"""As transformers imports its models: what is raised at last has neither name nor text."""
LAZILY = b"from lazy import Model"

WRONG = {
    "empty checkpoint": Wrong(
        {"a.pt": b""}, source("a.pt"), Reason.CHECKPOINT_CORRUPT, ("a.pt is empty",)
    ),
    "error page after an empty line": Wrong(
        {"a.pt": b"\n\n<!DOCTYPE html><p>403" * 9},
        source("a.pt"),
        Reason.FORMAT_UNKNOWN,
        ("HTML or XML page",),
    ),
    "error message in JSON": Wrong(
        {"a.pt": b' {"error": "denied"}'}, source("a.pt"), Reason.FORMAT_UNKNOWN, ("JSON",)
    ),
    "directory without an index": Wrong(
        {"d/pytorch_model.bin": b"x"},
        source("d/"),
        Reason.SOURCE_NOT_FOUND,
        ("holds no checkpoint that is a directory", "pytorch_model.bin"),
        "Name the file itself",
    ),
    "index without its shard": Wrong(
        {f"d/{INDEX}": b'{"weight_map": {"weight": "one.safetensors"}}'},
        source("d/"),
        Reason.SOURCE_NOT_FOUND,
        ("one.safetensors not found",),
        "all shards",
    ),
    "index too deep": Wrong(
        {f"d/{INDEX}": b"[" * 100_000},
        source("d/"),
        Reason.CHECKPOINT_CORRUPT,
        ("is not an index of shards",),
    ),
    "NUL in the source": Wrong({}, source("a%00b.pt"), Reason.SOURCE_NOT_FOUND, ("a%00b.pt",)),
    "a device": Wrong(
        {},
        {"source": {"uri": "file:///dev/zero"}},
        Reason.ACCESS_DENIED,
        ("/dev/zero cannot be read",),
    ),
    "NUL in the destination": Wrong(
        {}, destination("a%00b/"), Reason.DESTINATION_DENIED, ("no such path can exist",)
    ),
    "destination is a file": Wrong(
        {"out": b""}, {}, Reason.DESTINATION_DENIED, ("Not a directory",), "destination.uri"
    ),
    "zip that is none": Wrong(
        {"mine.zip": b"PK\x03\x04" * 9}, code("mine.zip"), Reason.CODE_INVALID, ("not a zip",)
    ),
    "zip that is not there": Wrong(
        {}, code("mine.zip"), Reason.CODE_INVALID, ("was not found",), "Upload it"
    ),
    "code with a folder on top": Wrong(
        {"code/net-main/mine.py": b"build = 1"},
        code("code/"),
        Reason.FACTORY_NOT_FOUND,
        ("no module mine",),
        "It is in the folder net-main",
    ),
    "code that exits when it is imported": Wrong(
        {"code/mine.py": b"import os; os._exit(3)"},
        code("code/"),
        Reason.FACTORY_FAILED,
        ("exited with code 3 while model.factory was running",),
    ),
    "code that interrupts when it is imported": Wrong(
        {"code/mine.py": b"raise KeyboardInterrupt"},
        code("code/"),
        Reason.FACTORY_FAILED,
        ("importing mine raised KeyboardInterrupt",),
    ),
    "code that imports a library lazily, which raises": Wrong(
        {"code/lazy.py": LAZY % b"RuntimeError('CUDA 13.2 and 13.0')", "code/mine.py": LAZILY},
        code("code/"),
        Reason.FACTORY_FAILED,
        ("importing mine raised RuntimeError: CUDA 13.2 and 13.0",),
    ),
    "code that imports a library lazily, which is not installed": Wrong(
        {"code/lazy.py": LAZY % b"ModuleNotFoundError(name='apex')", "code/mine.py": LAZILY},
        code("code/"),
        Reason.FACTORY_NOT_FOUND,
        ("it needs the module apex, which is not installed",),
        "apex",
    ),
    "code that is no text": Wrong(
        {"code/mine.py": b"\xff\0"}, code("code/"), Reason.FACTORY_FAILED, ("SyntaxError",)
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_wrong(name: str, run: Run, tmp_path: Path) -> None:
    case = WRONG[name]
    for path, content in case.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    result = run(spec_in(tmp_path, **case.changes))
    check(result, case.reason, case.said, case.hint, tmp_path / "out")


def test_a_zip_with_a_folder_on_top(run: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.writestr("code/mine.py", "build = 1")
    result = run(spec_in(tmp_path, **code("mine.zip")))
    said = ("no module mine", "holds code")
    check(result, Reason.FACTORY_NOT_FOUND, said, "content of code", tmp_path / "out")


def test_a_link_that_leads_nowhere_does_not_hide_its_neighbours(run: Run, tmp_path: Path) -> None:
    (tmp_path / "loop.pt").symlink_to("loop.pt")
    result = run(spec_in(tmp_path, **source("typo.pt")))
    said = ("typo.pt not found", "loop.pt, model.pt")
    check(result, Reason.SOURCE_NOT_FOUND, said, "spec.source.uri", tmp_path / "out")
