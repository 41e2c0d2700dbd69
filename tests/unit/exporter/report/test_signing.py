"""Envelopes that others verify, and keys that are refused before anything is computed."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa, x25519
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from modelexport_api.pod import SIGNING_KEY_ENV, SIGNING_KEY_FILE_ENV
from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.report.signing import (
    PAYLOAD_TYPE,
    load_signer,
    pre_authentication_encoding,
    take_signer,
)

PAYLOAD = b'{"_type": "https://in-toto.io/Statement/v1"}\n'
KEYS: dict[str, Any] = {
    "Ed25519": ed25519.Ed25519PrivateKey.generate(),
    "P-256": ec.generate_private_key(ec.SECP256R1()),
    "P-384": ec.generate_private_key(ec.SECP384R1()),
    "P-521": ec.generate_private_key(ec.SECP521R1()),
    "RSA": rsa.generate_private_key(65537, 2048),
}
SCHEMES = {"RSA": "rsa-pkcs1v15-sha256"}
"""What cosign uses for RSA; securesystemslib needs it as an argument."""


def pem(key: Any, password: bytes | None = None, traditional: bool = False) -> bytes:  # noqa: ANN401
    form = serialization.PrivateFormat
    encryption: Any = serialization.NoEncryption()
    if password:
        encryption = serialization.BestAvailableEncryption(password)
    kind = form.TraditionalOpenSSL if traditional else form.PKCS8
    content: bytes = key.private_bytes(serialization.Encoding.PEM, kind, encryption)
    return content


def verify(envelope: bytes, name: str, key_id: str) -> None:
    """As a stranger verifies it: another implementation, the public key alone."""
    public = SSlibKey.from_crypto(KEYS[name].public_key(), key_id, SCHEMES.get(name))
    Envelope.from_dict(json.loads(envelope)).verify([public], threshold=1)


@pytest.mark.parametrize("traditional", [False, True], ids=["PKCS8", "OpenSSL's own"])
@pytest.mark.parametrize("name", KEYS)
def test_a_stranger_verifies_the_envelope(name: str, traditional: bool) -> None:
    if name == "Ed25519" and traditional:
        return  # there is no such form
    signer = load_signer(pem(KEYS[name], traditional=traditional))
    envelope = signer.envelope(PAYLOAD)
    verify(envelope, name, signer.key_id)
    assert json.loads(envelope)["payloadType"] == PAYLOAD_TYPE
    assert base64.b64decode(json.loads(envelope)["payload"]) == PAYLOAD
    assert envelope.count(b"\n") == 1
    assert envelope.endswith(b"\n")


@pytest.mark.parametrize("name", KEYS)
def test_a_changed_payload_is_found(name: str) -> None:
    signer = load_signer(pem(KEYS[name]))
    content = json.loads(signer.envelope(PAYLOAD))
    content["payload"] = base64.b64encode(PAYLOAD.replace(b"v1", b"v2")).decode()
    with pytest.raises(VerificationError):
        verify(json.dumps(content).encode(), name, signer.key_id)


def test_what_is_signed_is_dsse_s_encoding() -> None:
    """The example of the specification."""
    encoded = pre_authentication_encoding("http://example.com/HelloWorld", b"hello world")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(pem(KEYS["P-256"], b"secret"), "it is encrypted", id="encrypted"),
        pytest.param(b"not a key", "no private key in PEM", id="no key"),
        pytest.param(b"", "no private key in PEM", id="empty"),
        pytest.param(
            KEYS["RSA"]
            .public_key()
            .public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            ),
            "no private key in PEM",
            id="a public key",
        ),
        pytest.param(
            pem(rsa.generate_private_key(65537, 1024)), "RSA key of 1024 bits", id="a short key"
        ),
        pytest.param(
            pem(ec.generate_private_key(ec.SECP256K1())), "curve secp256k1", id="another curve"
        ),
        pytest.param(
            pem(x25519.X25519PrivateKey.generate()), "of another kind", id="no signatures"
        ),
        pytest.param(pem(dsa.generate_private_key(2048)), "of another kind", id="DSA"),
    ],
)
def test_a_key_that_cannot_sign_is_refused(content: bytes, expected: str) -> None:
    with pytest.raises(ExportFailure) as caught:
        load_signer(content)
    assert caught.value.reason is Reason.SIGNING_FAILED
    assert expected in caught.value.message
    for line in content.decode().splitlines()[1:-1]:
        assert line not in f"{caught.value.message} {caught.value.hint}"


def test_the_key_leaves_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(pem(KEYS["Ed25519"]))
    by_content = {SIGNING_KEY_ENV: pem(KEYS["Ed25519"]).decode(), "OTHER": "stays"}
    by_name = {SIGNING_KEY_FILE_ENV: str(path), "OTHER": "stays"}
    signers = [take_signer(env, required=False) for env in (by_content, by_name)]
    assert by_content == by_name == {"OTHER": "stays"}
    assert len({signer.key_id for signer in signers if signer}) == 1


def test_without_a_key_nothing_is_signed_unless_it_must_be() -> None:
    assert take_signer({}, required=False) is None
    with pytest.raises(ExportFailure) as caught:
        take_signer({}, required=True)
    assert caught.value.reason is Reason.SIGNING_FAILED
    assert SIGNING_KEY_FILE_ENV in caught.value.hint


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure) as caught:
        take_signer({SIGNING_KEY_FILE_ENV: str(tmp_path / "gone.pem")}, required=False)
    assert "gone.pem cannot be read" in caught.value.message


def test_a_signer_does_not_show_its_key() -> None:
    signer = load_signer(pem(KEYS["Ed25519"]))
    raw = KEYS["Ed25519"].private_bytes_raw()
    assert raw.hex() not in repr(signer)
    assert signer.key_id not in repr(signer)
