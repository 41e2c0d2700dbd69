"""Certificates say who a client is and where a server may be."""

from __future__ import annotations

import stat
from pathlib import Path

from cryptography import x509

from bed.certificates import Authority, signing_key


def test_a_certificate_names_user_group_and_hosts(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path)
    pair = authority.issue("kubelet", user="system:node:bed", group="g", hosts=["bed", "10.0.0.1"])
    certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert certificate.subject.rfc4514_string() == "CN=system:node:bed,O=g"
    assert names.get_values_for_type(x509.DNSName) == ["bed"]
    assert [str(a) for a in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.1"]


def test_the_authority_signed_it(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path)
    pair = authority.issue("admin", user="admin")
    issuer = x509.load_pem_x509_certificate(authority.certificate.read_bytes())
    x509.load_pem_x509_certificate(pair.certificate.read_bytes()).verify_directly_issued_by(issuer)


def test_only_the_owner_reads_a_private_key(tmp_path: Path) -> None:
    pair = Authority.create(tmp_path).issue("admin", user="admin")
    for key in (pair.key, signing_key(tmp_path).private):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
