"""Two processes that publish to one place: in any order, the end state is whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.store import Location
from small_publication import Pod, followed, plain

Place = Callable[..., Location]


@pytest.fixture
def root(any_root: str) -> str:
    """Every store: volumes, too."""
    return any_root


def begun(place: Place, tmp_path: Path, content: str, spec: str = "spec") -> Pod:
    pod = Pod(place("out/"), tmp_path, content, spec)
    pod.begin()
    return pod


def check(place: Place, content: bytes) -> None:
    assert followed(place("out/")) == plain(place("out/")) == content


def test_the_late_one_takes_the_result_of_the_same_work(place: Place, tmp_path: Path) -> None:
    early, late = begun(place, tmp_path, "early"), begun(place, tmp_path, "late")
    published = early.commit()
    assert late.commit() == published
    check(place, b"early")


def test_the_late_one_leaves_other_work_alone(place: Place, tmp_path: Path) -> None:
    early, late = begun(place, tmp_path, "early"), begun(place, tmp_path, "late", spec="other")
    early.commit()
    with pytest.raises(ExportFailure) as caught:
        late.commit()
    assert caught.value.reason is Reason.DESTINATION_EXISTS
    check(place, b"early")


def test_an_answer_that_was_lost_is_no_other_writer(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client sends the conditional write again, and is refused by its own."""
    pod = begun(place, tmp_path, "mine")
    store = type(pod.destination.store)
    write_if = store.write_if

    def twice(*arguments: object, **named: object) -> None:
        write_if(*arguments, **named)  # type: ignore[arg-type]
        write_if(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "write_if", twice)
    assert pod.commit().resource.name == "mine"
    check(place, b"mine")


def test_a_failed_replacement_leaves_the_earlier_artifact(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(place, tmp_path, "early").commit()
    late = begun(place, tmp_path, "late", spec="other")

    def refuse(*_: object, **__: object) -> None:
        raise ExportFailure(Reason.STORE_UNAVAILABLE, "down", "later")

    monkeypatch.setattr(type(late.destination.store), "write_if", refuse)
    with pytest.raises(ExportFailure):
        late.commit()
    check(place, b"early")
