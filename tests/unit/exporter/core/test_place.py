"""Hints speak of images and limits of pods in pods only."""

from __future__ import annotations

import pytest

from modelexport_api.pod import MANIFEST_ENV
from modelexport_exporter.core import place


def said() -> str:
    return " ".join(
        (
            place.add_library("x"),
            place.where_modules_are(code=True),
            place.where_modules_are(code=False),
            place.install("x"),
            place.more_memory(),
        )
    )


def test_on_a_workstation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MANIFEST_ENV, raising=False)
    assert not [word for word in ("image", "pod", "limits") if word in said()]


def test_in_a_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MANIFEST_ENV, "{}")
    assert "image" in said()
    assert "spec.podTemplate" in said()
