"""Some of the orders of docs/reliability.md, and a writer that breaks a promise is found."""

from __future__ import annotations

import os
import random
from itertools import islice
from pathlib import Path

import pytest

from chaos.writers import publications, results
from chaos.writers.interleave import Drawn, every, run
from chaos.writers.publications import CASES
from modelexport_api.spec import Storage
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Role
from small_publication import Pod

ORDERS = 60


def test_an_item_of_a_batch_is_the_same_work_as_its_checkpoint_alone() -> None:
    (batch, _), (single, _) = CASES["batch against single"]
    assert batch == single
    (batch, _), (other, _) = CASES["batch against single of another spec"]
    assert batch != other


def test_two_shares_of_a_batch_write_the_results_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    planned = results.planned_batch(tmp_path)
    taken = set()
    for seed in range(ORDERS):
        order = Drawn([], draw=random.Random(seed))
        results.play(planned, order)
        taken.add(tuple(order.taken))
    assert len(taken) > ORDERS / 2


def test_every_order_is_played_once() -> None:
    """Two writers of two and three steps have 10 orders."""
    seen: list[str] = []

    def play(schedule: object) -> None:
        letters: list[str] = []
        acts = [lambda wait: _write(wait, letters, "ab"), lambda wait: _write(wait, letters, "xyz")]
        run(acts, schedule, lambda: None)  # type: ignore[arg-type]
        seen.append("".join(letters))

    assert len(list(every(play))) == len(set(seen)) == 10


def _write(wait: object, letters: list[str], text: str) -> None:
    for letter in text:
        wait()  # type: ignore[operator]
        letters.append(letter)


def test_a_manifest_that_is_written_before_its_files_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader itself: a commit point that comes too early."""

    def too_early(pod: Pod) -> None:
        pod.begin()
        publication = pod.publication
        manifest = pod.manifest()
        path = f"model.{pod.digest[:12]}.onnx"
        contents = {"model.onnx": {"path": path, "etag": "x"}}
        early = type(manifest).model_validate(
            {**manifest.model_dump(by_alias=True), "contents": contents}
        )
        publication._write_manifest(early, None)
        pod.commit()

    monkeypatch.setattr(Pod, "run", too_early)
    destination = locate(f"file://{tmp_path}/out/", Storage(), Role.DESTINATION)
    with pytest.raises(AssertionError, match="names what is not there"):
        list(islice(every(lambda o: publications.play(destination, tmp_path, "same spec", o)), 1))
