"""User errors: each fails at once, with its reason and a hint."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from bed import processes
from e2e.product import User
from models.catalog import DIGITS, MINILM, NORMALISED, SINE, RealModel

pytestmark = pytest.mark.node

Manifest = dict[str, Any]


def no_checkpoint(user: User, _: Path) -> Manifest:
    user.upload(DIGITS)
    manifest = user.manifest(DIGITS)
    manifest["spec"]["source"]["uri"] = f"s3://{user.bucket}/digits/chekpoint.pt"
    return manifest


def wrong_keys(user: User, _: Path) -> Manifest:
    user.upload(DIGITS)
    user.create_secret("stale", secret_key="0" * 32)
    manifest = user.manifest(DIGITS)
    manifest["spec"]["storage"]["secretName"] = "stale"
    return manifest


def unknown_factory(user: User, _: Path) -> Manifest:
    user.upload(DIGITS)
    manifest = user.manifest(DIGITS)
    manifest["spec"]["model"]["factory"] = "model:biuld"
    return manifest


def other_shapes(user: User, _: Path) -> Manifest:
    user.upload(DIGITS)
    manifest = user.manifest(DIGITS)
    manifest["spec"]["model"]["kwargs"] = {"width": 24}
    return manifest


def cut_off(user: User, scratch: Path) -> Manifest:
    content = MINILM.checkpoint(scratch).read_bytes()
    (scratch / "cut").write_bytes(content[: len(content) // 2])
    user.upload(MINILM, checkpoint=scratch / "cut")
    return user.manifest(MINILM)


class RunsCode:
    """Creates a file when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return Path.touch, (Path("/tmp/owned"),)  # type: ignore[return-value]


def code_in_a_pickle(user: User, scratch: Path) -> Manifest:
    torch.save({"weights": RunsCode()}, scratch / "evil.pt", pickle_module=pickle)
    user.upload(DIGITS, checkpoint=scratch / "evil.pt")
    return user.manifest(DIGITS)


@dataclass(frozen=True)
class Mistake:
    """A user error, and the expected failure."""

    make: Callable[[User, Path], Manifest]
    reason: str
    found: str = ""
    way_out: str = ""


MISTAKES = [
    Mistake(no_checkpoint, "SourceNotFound", "digits/chekpoint.pt", "checkpoint.pt"),
    Mistake(wrong_keys, "AccessDenied", way_out="stale"),
    Mistake(unknown_factory, "FactoryNotFound", "biuld", "build"),
    Mistake(other_shapes, "StateDictMismatch", "features.0.weight"),
    Mistake(cut_off, "CheckpointCorrupt"),
    Mistake(code_in_a_pickle, "UnsafeCheckpoint", way_out="allowPickle"),
]
BY_DAY = MISTAKES[::2]


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(
            mistake, id=mistake.reason, marks=[] if mistake in BY_DAY else pytest.mark.nightly
        )
        for mistake in MISTAKES
    ],
)
def test_a_user_error_fails_at_once(user: User, tmp_path: Path, mistake: Mistake) -> None:
    manifest = mistake.make(user, tmp_path)
    ended = user.wait(user.apply(manifest), "Failed")

    failure = ended.failure
    assert failure["reason"] == ended.condition("Failed")["reason"] == mistake.reason
    assert mistake.found in failure["message"]
    assert len(failure["hint"]) > 20
    assert mistake.way_out in failure["message"] + failure["hint"]
    assert "Traceback" not in failure["message"]
    assert not failure.get("retryable", False)
    assert ended.status["attempts"] == 1
    assert len(user.pods(ended.name)) == 1
    assert ended.condition("Complete").get("status") != "True"
    name = manifest["spec"]["destination"]["uri"].removeprefix(f"s3://{user.bucket}/")
    assert not {"model.onnx", "manifest.json", "report.json"} & user.keys(name)
    secret = user.cluster.s3.secret_key
    assert secret not in str(ended.resource)


@pytest.mark.parametrize(
    ("model", "export", "cause"),
    [
        pytest.param(
            *(SINE, {"exporter": "Dynamo", "plugins": ["mistranslated"]}, "output y"),
            id="a plugin's mistake",
        ),
        pytest.param(
            *(NORMALISED, {"exporter": "TorchScript"}, "mistranslated.py:34"),
            id="a number kept",
        ),
    ],
)
def test_an_incorrectly_converted_model_is_never_published(
    user: User, model: RealModel, export: dict[str, Any], cause: str
) -> None:
    user.upload(model)
    ended = user.wait(user.apply(user.manifest(model, export=export)), "Failed")

    assert ended.failure["reason"] == "VerificationFailed"
    assert cause in ended.failure["message"]
    assert ended.failure["stage"] == "Verify"
    assert ended.condition("Exported")["status"] == "True"
    assert ended.condition("Verified")["status"] == "False"
    assert ended.status["verification"]["verdict"] == "Mismatch"
    assert "artifact" not in ended.status
    keys = user.keys(f"{model.name}/onnx/")
    repro = {key for key in keys if key.startswith("failed/") and "/repro/" in key}
    assert {key.rpartition("/")[2] for key in repro} >= {"model.onnx", "repro.py"}
    rest = keys - repro
    assert not {key for key in rest if ".onnx" in key or ".data" in key or "manifest" in key}
    report = ended.status["reportUri"].removeprefix(f"s3://{user.bucket}/")
    assert b"VerificationFailed" in user.read(report)


def test_the_api_server_names_the_field_and_the_rule(user: User) -> None:
    manifest = copy.deepcopy(user.manifest(DIGITS))
    manifest["spec"]["dims"]["batch"] = {"min": 64, "max": 1}
    with pytest.raises(processes.BedError) as caught:
        user.apply(manifest)
    assert "spec.dims" in str(caught.value)
    assert "a dim's min must not be larger than its max" in str(caught.value)
