"""Consumption of artifacts: Triton's layout, signed provenance, a second verification."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import onnxruntime
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from e2e.product import User
from models.catalog import CURIOUS
from triton_rules import parsed, refusals

pytestmark = pytest.mark.node

REPOSITORY = "repository/curious/"


def create_key(user: User, tmp_path: Path) -> ec.EllipticCurvePrivateKey:
    key = ec.generate_private_key(ec.SECP256R1())
    path = tmp_path / "key.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    user.kubectl("create", "secret", "generic", "signing", f"--from-file=key.pem={path}")
    return key


def test_a_signed_model_for_triton_is_verified_again(user: User, tmp_path: Path) -> None:
    """The model's own code looks for the key and for the store's credentials, and finds none."""
    key = create_key(user, tmp_path)
    user.upload(CURIOUS)
    destination = {
        "uri": f"s3://{user.bucket}/{REPOSITORY}",
        "layout": "Triton",
        "signingSecretName": "signing",
    }
    manifest = user.manifest(CURIOUS, destination=destination)
    first = user.wait(user.apply(manifest), "Complete")

    before = user.keys(REPOSITORY)
    assert before >= {"config.pbtxt", "1/model.onnx", "provenance.intoto.jsonl", "manifest.json"}
    directory = user.download(REPOSITORY, tmp_path / "model")
    session = onnxruntime.InferenceSession(
        str(directory / "1" / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    config = parsed((directory / "config.pbtxt").read_text())
    assert refusals(config, session) == []
    assert (config.name, config.max_batch_size) == ("curious", 64)

    envelope = json.loads((directory / "provenance.intoto.jsonl").read_text())
    key_id = json.loads((directory / "manifest.json").read_text())["signedBy"]
    Envelope.from_dict(envelope).verify([SSlibKey.from_crypto(key.public_key(), key_id)], 1)
    assert base64.b64decode(envelope["payload"]) == (directory / "provenance.json").read_bytes()
    everything = user.kubectl("get", "modelexport,job,pod", "--output", "yaml")
    assert "PRIVATE KEY" not in everything + user.describe(first.name)

    again = {"mode": "Verify", "destination": {"uri": destination["uri"]}}
    manifest = user.manifest(CURIOUS, **again)
    second = user.wait(user.apply({**manifest, "metadata": {"name": "again"}}), "Complete")
    assert second.status["artifact"]["uri"] == first.status["artifact"]["uri"]
    assert second.status["verification"]["verdict"] == "Verified"
    reasons = [second.condition(kind)["reason"] for kind in ("Exported", "Verified", "Published")]
    assert reasons == ["NotRequested", "Verified", "NotRequested"]
    new = user.keys(REPOSITORY) - before
    assert {name.partition("/")[0] for name in new} == {"verifications"}
    assert second.status["reportUri"].startswith(f"s3://{user.bucket}/{REPOSITORY}verifications/")


def test_a_missing_signing_key_is_reported(user: User) -> None:
    """A Secret without the entry: the container does not start, and the status has the reason."""
    user.kubectl("create", "secret", "generic", "signing", "--from-literal=other=1")
    user.upload(CURIOUS)
    destination = {"uri": f"s3://{user.bucket}/{REPOSITORY}", "signingSecretName": "signing"}
    ended = user.wait(user.apply(user.manifest(CURIOUS, destination=destination)), "Failed")
    assert ended.failure["reason"] == "PodCannotStart"
    assert "key.pem" in ended.failure["message"]
