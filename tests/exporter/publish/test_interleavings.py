"""Two writers in every order of their steps: who follows the manifest has one whole artifact."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from chaos.writers.interleave import Drawn, every
from chaos.writers.publications import CASES, play
from modelexport_exporter.storage.store import Location

Place = Callable[..., Location]
IN_EACH_RUN = [
    ("file", "same spec"),
    ("file", "different specs"),
    ("file", "batch against single"),
    ("pvc", "different specs"),
]
"""The others are played by `python -m chaos writers`."""


@pytest.mark.parametrize(("root", "case"), IN_EACH_RUN, indirect=["root"])
def test_every_interleaving_on_files(
    place: Place, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    numbers = itertools.count()
    played = every(lambda order: play(place(f"{next(numbers)}/"), tmp_path, case, order))
    count = sum(1 for _ in played)
    print(f"{case}: {count} interleavings")
    assert count > 100


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("root", [pytest.param("s3", marks=pytest.mark.s3)], indirect=True)
def test_some_interleavings_in_a_bucket(place: Place, tmp_path: Path, case: str) -> None:
    for seed in range(5):
        play(place(f"{seed}/"), tmp_path, case, Drawn([], draw=random.Random(seed)))
