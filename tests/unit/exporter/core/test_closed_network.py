"""Which errors of the model's code come from a network that it does not have."""

from __future__ import annotations

import errno
import socket

import pytest

from modelexport_exporter.core import closed_network


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (socket.gaierror(-3, "Temporary failure in name resolution"), True),
        (ConnectionRefusedError(), True),
        (PermissionError(errno.EPERM, "Operation not permitted"), True),
        (PermissionError(errno.EACCES, "Permission denied", "/secret"), False),
        (ValueError("no such model"), False),
    ],
)
def test_advice(error: Exception, monkeypatch: pytest.MonkeyPatch, *, told: bool) -> None:
    wrapped = RuntimeError("cannot download")
    wrapped.__cause__ = error
    assert closed_network.advice(wrapped) == "", "this process has a network"
    monkeypatch.setattr(closed_network, "_closed", True)
    assert ("model.network: Open" in closed_network.advice(wrapped)) is told
