"""A checkpoint, and a destination without a while for readers of the artifact before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from exporter.pipeline.destination import CHECKPOINT, Place, write
from modelexport_exporter.publish import clean_up
from modelexport_exporter.storage.store import Location


@pytest.fixture
def checkpoint(place: Place) -> Location:
    return write(place("run/model.pt"), CHECKPOINT)


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_up, "GRACE", timedelta(0))
