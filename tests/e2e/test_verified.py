"""From `kubectl apply` to an artifact that computes what the checkpoint computes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.torch import load_file

from e2e.product import Ended, User
from models import digits, minilm
from models.catalog import DIGITS, DIVIDED_POOL, MINILM, SCALED_ELU, RealModel

pytestmark = pytest.mark.node


def session(model: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])


def assert_published(user: User, ended: Ended, prefix: str) -> None:
    """Manifest, report and status agree, and match the published files."""
    manifest = json.loads(user.read(f"{prefix}manifest.json"))
    report = json.loads(user.read(f"{prefix}report.json"))
    assert report["verification"]["verdict"] == "Verified"
    artifact = ended.status["artifact"]
    assert artifact["uri"] == f"s3://{user.bucket}/{prefix}model.onnx"
    assert artifact["manifestUri"] == f"s3://{user.bucket}/{prefix}manifest.json"
    published = {file["name"] for file in manifest["artifact"]["files"]}
    contents = {content["path"] for content in manifest["contents"].values()}
    assert user.keys(prefix) == published | contents | {"manifest.json"}
    for file in manifest["artifact"]["files"]:
        content = user.read(prefix + file["name"])
        assert hashlib.sha256(content).hexdigest() == file["sha256"]
        assert len(content) == file["sizeBytes"]


def test_a_trained_network_classifies_held_out_digits_as_before(user: User, tmp_path: Path) -> None:
    user.upload(DIGITS)
    ended = user.wait(user.apply(user.manifest(DIGITS)), "Complete")

    assert ended.status["phase"] == "Succeeded"
    assert ended.status["verification"]["verdict"] == "Verified"
    assert ended.status["verification"]["provider"] == "CPU"
    assert [ended.condition(kind)["status"] for kind in ("Exported", "Verified", "Published")] == [
        "True"
    ] * 3
    assert_published(user, ended, "digits/onnx/")

    directory = user.download("digits/onnx/", tmp_path)
    images, labels = digits.held_out()
    assert len(images) > DIGITS.dims["batch"]["max"], "a batch that the export never saw"
    (logits,) = session(directory / "model.onnx").run(None, {"image": images.numpy()})
    model, _ = digits.trained()
    with torch.inference_mode():
        eager = model(images).numpy()
    assert (logits.argmax(axis=1) == eager.argmax(axis=1)).all()
    assert (logits.argmax(axis=1) == labels.numpy()).mean() > 0.95


@pytest.mark.nightly
def test_a_sentence_encoder_finds_the_same_sentences_similar(user: User, tmp_path: Path) -> None:
    user.upload(MINILM)
    ended = user.wait(user.apply(user.manifest(MINILM)), "Complete")
    assert_published(user, ended, "minilm/onnx/")
    shapes = {info["name"]: info["shape"] for info in ended.status["artifact"]["inputs"]}
    assert shapes == {"input_ids": ["batch", "seq"], "attention_mask": ["batch", "seq"]}

    directory = user.download("minilm/onnx/", tmp_path)
    from models.code import minilm_encoder  # which takes long to import

    encoder = minilm_encoder.build(**minilm.config())
    encoder.load_state_dict(load_file(minilm.package_file("model.safetensors")))
    encoder.eval()
    onnx = session(directory / "model.onnx")
    for sentences in (minilm.SENTENCES, minilm.SENTENCES[:1], minilm.SENTENCES[2:5]):
        tokens = minilm.tokenize(*sentences)
        (embedding,) = onnx.run(None, dict(tokens))
        with torch.inference_mode():
            eager = encoder(**{name: torch.from_numpy(ids) for name, ids in tokens.items()})
        np.testing.assert_allclose(
            minilm.similarities(embedding), minilm.similarities(eager.numpy()), atol=1e-5, rtol=0
        )


def test_a_repeated_export_reuses_the_artifact(user: User, tmp_path: Path) -> None:
    """The same spec under another name finds the manifest, and writes nothing.

    The first one is submitted by the command, which then fetches its report.
    """
    user.upload(DIGITS)
    manifest = user.manifest(DIGITS)
    file = tmp_path / "modelexport.yaml"
    file.write_text(json.dumps(manifest))
    printed = json.loads(user.modelexport("submit", file, "--wait", "-o", "json"))
    first = user.wait("digits", "Complete")
    assert first.status == printed
    page = user.modelexport("report", "digits", "--save", "-")
    assert page.encode() == user.read("digits/onnx/report.html")
    assert "samples agree" in user.modelexport("logs", "digits")

    client = user.cluster.s3.client()
    before = client.head_object(Bucket=user.bucket, Key="digits/onnx/model.onnx")["LastModified"]

    again = user.apply({**manifest, "metadata": {"name": "digits-again"}})
    second = user.wait(again, "Complete")
    after = client.head_object(Bucket=user.bucket, Key="digits/onnx/model.onnx")["LastModified"]
    assert second.status["artifact"] == first.status["artifact"]
    assert after == before


@pytest.mark.parametrize(
    "model",
    [SCALED_ELU, pytest.param(DIVIDED_POOL, marks=pytest.mark.nightly)],
    ids=lambda model: model.name,
)
def test_a_model_that_torch_alone_converts_incorrectly_is_verified(
    user: User, model: RealModel
) -> None:
    user.upload(model)
    ended = user.wait(user.apply(user.manifest(model)), "Complete")
    assert_published(user, ended, f"{model.name}/onnx/")
    assert ended.status["verification"]["maxRelError"] < 1e-5
