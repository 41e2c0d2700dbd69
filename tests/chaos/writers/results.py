"""Two pods of one batch that end at the same time: each writes the results of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from batches import batch, verified
from chaos.writers.interleave import Act, Schedule, Stepped, Wait, run
from modelexport_exporter.batch.index_page import render
from modelexport_exporter.batch.item_result import finished_result
from modelexport_exporter.batch.journal import Journal, journal_of
from modelexport_exporter.batch.plan import Planned, make_plan
from modelexport_exporter.batch.publish_results import INDEX_NAME, TABLE_NAME, publish_results
from modelexport_exporter.batch.results import RESULTS_NAME, Results, table_of
from modelexport_exporter.storage.store import Location

CASE = "two shares of a batch"
_NAMES = (RESULTS_NAME, TABLE_NAME, INDEX_NAME)


def planned_batch(directory: Path) -> Planned:
    """Return a batch of two checkpoints in two shares."""
    (directory / "run").mkdir()
    for number in range(2):
        (directory / f"run/fold-{number}.pt").write_bytes(b"x")
    source = {"uri": f"file://{directory}/run/*.pt"}
    destination = f"file://{directory}/onnx/{{stem}}/"
    return make_plan(batch(source, destination, parallelism=2, uid="u"), 2)


def play(planned: Planned, schedule: Schedule) -> None:
    """Run both pods in the order of a schedule; at the end the results are those of both."""
    for share in range(2):
        _delete(journal_of(planned.directory, share))
    for name in _NAMES:
        _delete(planned.directory.child(name))
    run([_act(planned, share) for share in range(2)], schedule, lambda: _check_results(planned))
    found = _read_results(planned)
    assert found is not None, schedule.taken
    assert [item.outcome for item in found.items] == ["Succeeded", "Succeeded"], schedule.taken
    assert _content(planned, TABLE_NAME) == table_of(found), schedule.taken
    assert _content(planned, INDEX_NAME) == render(found, planned.directory.uri), schedule.taken


def _act(planned: Planned, share: int) -> Act:
    other = journal_of(planned.directory, 1 - share).key

    def is_step(method: str, arguments: tuple[Any, ...]) -> bool:
        """Journals are read by two threads at once; the pod's own is known to be complete."""
        key = str(arguments[0]) if arguments else ""
        return key == other or (method in {"read", "write", "write_if"} and key.endswith(_NAMES))

    def act(wait: Wait) -> None:
        wait()  # the journal is what the other one reads
        results = [
            finished_result(item, verified(planned.item(item)), 1.0, 1)
            for item in planned.plan.share(share)
        ]
        mine = journal_of(planned.directory, share)
        content = Journal(results=results).model_dump_json(by_alias=True, exclude_none=True)
        mine.store.write(mine.key, content.encode())
        directory = planned.directory
        stepped = Location(Stepped(directory.store, wait, is_step), directory.key)
        publish_results(Planned(planned.resource, planned.plan, stepped), lambda _seconds: None)

    return act


def _check_results(planned: Planned) -> None:
    _read_results(planned)


def _read_results(planned: Planned) -> Results | None:
    """Return the results as a reader has them; whatever is there must be whole."""
    content = _content(planned, RESULTS_NAME)
    return Results.model_validate_json(content) if content is not None else None


def _content(planned: Planned, name: str) -> bytes | None:
    where = planned.directory.child(name)
    answer = where.store.read(where.key)
    return answer[0] if answer else None


def _delete(where: Location) -> None:
    where.store.delete([where.key])
