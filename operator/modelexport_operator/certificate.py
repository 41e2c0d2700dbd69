"""The certificate of the metrics' port: read again when its files change.

The kubelet replaces the files of a Secret's volume some time after the Secret, for example after
cert-manager renewed it. A handshake after that uses the new certificate; while the files are not a
pair, the last ones that were.
"""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

CERTIFICATE, KEY = "tls.crt", "tls.key"
_PROTOCOLS = ["http/1.1"]

log = logging.getLogger(__name__)


class CertificateError(ValueError):
    """The files are no certificate with its key; the message says what to do."""


def read_context(directory: Path) -> ssl.SSLContext:
    """Return a server's context with the certificate in a directory. Raises CertificateError."""
    # The kubelet's link is followed once: so both files are of the same Secret.
    current = (directory / "..data") if (directory / "..data").exists() else directory
    certificate, key = current.resolve() / CERTIFICATE, current.resolve() / KEY
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(_PROTOCOLS)
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ValueError) as error:  # SSLError is an OSError
        raise CertificateError(
            f"CertificateInvalid: {directory / CERTIFICATE} and {directory / KEY}: "
            f"expected a certificate and its key in PEM, without a password: {error}"
        ) from None
    return context


class RenewedCertificate:
    """A context whose handshakes use the directory's current certificate."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seen = self._stamp()
        self._current = self.context = read_context(directory)
        # Called for each handshake, before the certificate is chosen.
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _first: ssl.SSLContext) -> None:
        stamp = self._stamp()
        if stamp != self._seen:
            self._seen = stamp
            try:
                self._current = read_context(self._directory)
                log.info("read the renewed certificate in %s", self._directory)
            except CertificateError as error:
                log.warning("%s; the last certificate is used", error)
        connection.context = self._current

    def _stamp(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(_identify(self._directory / name) for name in (CERTIFICATE, KEY))


def _identify(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _no_password() -> str:
    raise ValueError("the key has a password")
