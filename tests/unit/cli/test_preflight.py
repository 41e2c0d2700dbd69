"""What the files of this machine tell; `tests/bad_input` asks the command."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.resource import parse
from modelexport_api.status import Failure
from modelexport_cli.preflight import preflight
from unit.cli.checkpoints import write_state_dict

_NOBODY = 65534


def spec(directory: Path, **parts: Any) -> Any:  # noqa: ANN401 - any part of a spec
    """Return a spec whose files are there, but for these parts."""
    write_state_dict(directory / "model.pt")
    (directory / "code").mkdir(exist_ok=True)
    (directory / "code" / "model.py").write_text("def build(): pass")
    root = f"file://{directory}"
    return parse(
        {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": "m"},
            "spec": {
                "source": {"uri": f"{root}/model.pt"},
                "model": {"factory": "model:build", "code": {"uri": f"{root}/code/"}},
                "inputs": [{"name": "x"}],
                "destination": {"uri": f"{root}/a/b/out/"},
                **parts,
            },
        }
    ).spec


def test_nothing_is_said_where_all_is_there(tmp_path: Path) -> None:
    assert preflight(spec(tmp_path)) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code", "model.pt"]


@pytest.mark.parametrize(
    "parts",
    [
        {"source": {"uri": "s3://bucket/missing.pt"}},
        {"source": {"uri": "file:///missing/*.pt"}, "destination": {"uri": "file:///tmp/{stem}/"}},
        {"model": {"factory": "missing:build", "code": {"uri": "s3://bucket/code.zip"}}},
        {"destination": {"uri": "s3://bucket/out/"}},
        {"verification": {"goldenInputs": "s3://bucket/golden.npz"}},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_what_is_elsewhere_is_left_to_the_export(tmp_path: Path, parts: dict[str, Any]) -> None:
    assert preflight(spec(tmp_path, **parts)) is None


def test_all_causes_are_said_at_once(tmp_path: Path) -> None:
    found = preflight(
        spec(
            tmp_path,
            source={"uri": f"file://{tmp_path}/missing.pt"},
            model={"factory": "model:biuld", "code": {"uri": f"file://{tmp_path}/code/"}},
            destination={"uri": f"file://{tmp_path}/model.pt/out/"},
        )
    )
    assert found is not None
    assert found.reason is Reason.SOURCE_NOT_FOUND
    lines = found.message.splitlines()
    assert ["missing.pt not found" in lines[0], "no biuld" in lines[1]] == [True, True]
    assert "model.pt is a file" in lines[2]


def test_a_diagnosis_needs_no_destination(tmp_path: Path) -> None:
    blocked = spec(tmp_path, destination={"uri": f"file://{tmp_path}/model.pt/out/"})
    assert preflight(blocked, publishes=False) is None


def test_a_directory_without_permission() -> None:
    with TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        (directory / "locked").mkdir(mode=0o500)
        locked = spec(directory, destination={"uri": f"file://{directory}/locked/out/"})
        found = as_nobody(lambda: preflight(locked))
    assert found is not None
    assert found.reason is Reason.DESTINATION_DENIED


def as_nobody(look: Callable[[], Failure | None]) -> Failure | None:
    """Return what a user without rights finds: root may write everywhere."""
    if os.geteuid():
        return look()
    look()  # what it imports may be root's alone
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
            os.write(writer, pickle.dumps(look()))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        found: Failure | None = pickle.load(answer)
    os.waitpid(child, 0)
    return found


@pytest.mark.parametrize(
    ("artifact", "words"),
    [({"uri": "file:///missing/model.onnx"}, "model.onnx not found"), (None, "manifest.json")],
)
def test_the_artifact_to_verify(
    tmp_path: Path, artifact: dict[str, str] | None, words: str
) -> None:
    wanted = {"artifact": artifact} if artifact else {}
    found = preflight(spec(tmp_path, mode="Verify", **wanted))
    assert found is not None
    assert found.reason is Reason.ARTIFACT_INVALID
    assert words in found.message
