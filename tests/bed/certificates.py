"""The certificates of one cluster: an authority and what it signs, as files.

Kubernetes reads who you are from a client certificate: the common name is the user, the
organisation is the group.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=2)


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, in PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class SigningKey:
    """The two halves of a key that signs tokens, in PEM files."""

    private: Path
    public: Path


@dataclass(frozen=True)
class Authority:
    """A certificate authority that lives in a directory."""

    directory: Path
    name: x509.Name
    private_key: ec.EllipticCurvePrivateKey

    @classmethod
    def create(cls, directory: Path) -> Authority:
        directory.mkdir(parents=True, exist_ok=True)
        authority = cls(
            directory, _name("modelexport-bed"), ec.generate_private_key(ec.SECP256R1())
        )
        unsigned = authority._builder(authority.name, authority.private_key.public_key())
        unsigned = unsigned.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        authority._sign(unsigned, authority.certificate)
        return authority

    @property
    def certificate(self) -> Path:
        return self.directory / "ca.crt"

    def issue(
        self,
        file: str,
        *,
        user: str,
        group: str | None = None,
        hosts: Sequence[str] = (),
    ) -> KeyPair:
        """A certificate for a client and, with HOSTS (names or addresses), for a server."""
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        unsigned = self._builder(_name(user, group), key.public_key())
        unsigned = unsigned.add_extension(x509.ExtendedKeyUsage(usages), False)
        if hosts:
            names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
            unsigned = unsigned.add_extension(names, False)
        pair = KeyPair(self.directory / f"{file}.crt", self.directory / f"{file}.key")
        self._sign(unsigned, pair.certificate)
        _write_key(key, pair.key)
        return pair

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=5))
            .not_valid_after(now + _LIFETIME)
        )

    def _sign(self, unsigned: x509.CertificateBuilder, path: Path) -> None:
        signed = unsigned.sign(self.private_key, hashes.SHA256())
        path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))


def signing_key(directory: Path) -> SigningKey:
    """Make the key that signs service-account tokens."""
    key = ec.generate_private_key(ec.SECP256R1())
    pair = SigningKey(directory / "service-account.key", directory / "service-account.pub")
    _write_key(key, pair.private)
    encoded = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    pair.public.write_bytes(encoded)
    return pair


def _write_key(key: ec.EllipticCurvePrivateKey, path: Path) -> None:
    encoded = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    path.touch(mode=0o600)
    path.write_bytes(encoded)


def _name(user: str, group: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(attributes)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
