"""Events that the API server accepts, for any message and object."""

from __future__ import annotations

import re

import pytest

from modelexport_operator.decisions import Event
from modelexport_operator.events import NOTE_BYTES, manifest
from unit.operator.objects import NOW, resource

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@pytest.mark.parametrize("message", ["", "short", "x" * 5000, "…" * 5000, "x" + "語" * 400])
def test_the_note_fits_the_limit_in_bytes(message: str) -> None:
    note = manifest(resource(), Event("Normal", "Told", message, ""), "operator-0", NOW)["note"]
    assert 0 < len(note.encode()) <= NOTE_BYTES
    assert "\ufffd" not in note


@pytest.mark.parametrize("name", ["digits", "a" * 199 + "-" + "b" * 20, "a" * 199 + "." + "b" * 20])
def test_the_name_is_a_dns_subdomain(name: str) -> None:
    event = manifest(resource(name=name), Event("Normal", "Told", "m", ""), "operator-0", NOW)
    assert SUBDOMAIN.fullmatch(event["metadata"]["name"])
