"""Signs the provenance statement as a DSSE envelope, with a key that only the supervisor holds.

The key is read, and removed from the environment, before any process starts that runs user code.
A key that cannot sign is thus reported before anything is computed. cosign, in-toto and
slsa-verifier accept the envelope as an attestation (https://github.com/secure-systems-lab/dsse).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

from modelexport_api.pod import SIGNING_KEY_ENV, SIGNING_KEY_FILE_ENV
from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure

PAYLOAD_TYPE = "application/vnd.in-toto+json"
SMALLEST_RSA_BITS = 2048
_KINDS = "an unencrypted private key in PEM: Ed25519, ECDSA (P-256, P-384, P-521) or RSA"
_HASHES: dict[str, hashes.HashAlgorithm] = {
    "secp256r1": hashes.SHA256(),
    "secp384r1": hashes.SHA384(),
    "secp521r1": hashes.SHA512(),
}
"""The hash that goes with a curve: as long as the key, as securesystemslib and cosign choose it."""


@dataclass(frozen=True, repr=False)
class Signer:
    """A private key; its repr never shows it."""

    key_id: str
    """SHA-256 of the public key's SubjectPublicKeyInfo."""
    sign: Callable[[bytes], bytes]

    def envelope(self, payload: bytes) -> bytes:
        """Return the DSSE envelope of an in-toto statement, as one line of JSON."""
        signature = self.sign(pre_authentication_encoding(PAYLOAD_TYPE, payload))
        content = {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": self.key_id, "sig": base64.b64encode(signature).decode()}],
        }
        return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return what DSSE signs: type and payload with their lengths, so neither can be moved."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def take_signer(environment: MutableMapping[str, str], *, required: bool) -> Signer | None:
    """Return the signer that the environment holds or names, and remove it from there.

    In a pod the operator hands over the Secret's key itself; outside one, its file is named.
    """
    content = environment.pop(SIGNING_KEY_ENV, None)
    path = environment.pop(SIGNING_KEY_FILE_ENV, None)
    if content is not None:
        return load_signer(content.encode())
    if path is not None:
        return load_signer(_read(Path(path)))
    if required:
        raise ExportFailure(
            Reason.SIGNING_FAILED,
            "destination.signingSecretName asks for a signed provenance statement, but there is "
            "no key",
            f"In a cluster the operator hands over the Secret's key.pem; outside one, name a file "
            f"with {_KINDS}, in the environment variable {SIGNING_KEY_FILE_ENV}.",
        )
    return None


def load_signer(pem: bytes) -> Signer:
    """Return the signer of a private key in PEM. Raises ExportFailure."""
    key = _load(pem)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return Signer(_key_id(key.public_key()), key.sign)
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name in _HASHES:
        algorithm = ec.ECDSA(_HASHES[key.curve.name])
        return Signer(_key_id(key.public_key()), lambda data: key.sign(data, algorithm))
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= SMALLEST_RSA_BITS:
        return Signer(
            _key_id(key.public_key()),
            lambda data: key.sign(data, padding.PKCS1v15(), hashes.SHA256()),
        )
    raise _unusable(f"it is {_describe(key)}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unusable(f"{path} cannot be read: {error.strerror}") from error


def _load(pem: bytes) -> PrivateKeyTypes:
    try:
        return serialization.load_pem_private_key(pem, password=None)
    except TypeError:
        raise _unusable("it is encrypted") from None
    except (ValueError, UnsupportedAlgorithm):
        # The library's message may quote the file.
        raise _unusable("it is no private key in PEM") from None


def _describe(key: PrivateKeyTypes) -> str:
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return f"an ECDSA key on the curve {key.curve.name}"
    if isinstance(key, rsa.RSAPrivateKey):
        return f"an RSA key of {key.key_size} bits (at least {SMALLEST_RSA_BITS} are needed)"
    return f"of another kind ({type(key).__name__.removesuffix('PrivateKey').lstrip('_')})"


def _unusable(why: str) -> ExportFailure:
    return ExportFailure(
        Reason.SIGNING_FAILED,
        f"the signing key cannot be used: {why}",
        f"Give {_KINDS}; in a cluster as `key.pem` of the Secret that "
        "destination.signingSecretName names.",
    )


def _key_id(key: PublicKeyTypes) -> str:
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return hashlib.sha256(key.public_bytes(encoding, form)).hexdigest()
