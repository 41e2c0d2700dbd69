"""A thread never sees the process without its credentials."""

from __future__ import annotations

import os
import threading

import pytest

from modelexport_exporter.core.environment import with_credentials, without_secrets


def test_who_needs_credentials_waits_while_they_are_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    found: list[tuple[tuple[str, str], ...]] = []

    def need() -> None:
        with with_credentials() as held:
            found.append(held)

    with without_secrets():
        assert "AWS_SECRET_ACCESS_KEY" not in os.environ
        other = threading.Thread(target=need)
        other.start()
        other.join(0.2)
        assert not found
    other.join(10)
    assert ("AWS_SECRET_ACCESS_KEY", "secret") in found[0]


def test_credentials_are_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    with pytest.raises(OSError, match="no server"), without_secrets():
        raise OSError("no server")
    assert os.environ["AWS_ACCESS_KEY_ID"] == "key"
