"""Writes results.json, results.csv and index.html: the last pod to end writes all results.

Each pod that ends makes all three from the journals of all shares. results.json only replaces the
version that was read before the journals, so the last writer has read all of them. The other two
are made from it, and made again if another pod writes it meanwhile.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from modelexport_exporter.batch.index_page import render
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.batch.journal import journal_of, read_journal
from modelexport_exporter.batch.plan import Planned
from modelexport_exporter.batch.results import RESULTS_NAME, Results, results_of, table_of
from modelexport_exporter.storage.store import ConditionFailedError, Location

TABLE_NAME = "results.csv"
INDEX_NAME = "index.html"
_THREADS = 8
_LOST = 2
"""After this many lost races, a winner has read this pod's journal: it was written before."""
_ROUNDS = 50


def publish_results(
    planned: Planned, pause: Callable[[float], None] = time.sleep
) -> tuple[Results, Location]:
    """Write the results from all journals; return them and the index's location. Raises."""
    where = planned.directory.child(RESULTS_NAME)
    index = planned.directory.child(INDEX_NAME)
    lost = 0
    for _ in range(_ROUNDS):
        answer = where.store.read(where.key)
        results = results_of(planned, _all_journals(planned))
        content = results.encode()
        try:
            if answer is None or answer[0] != content:
                etag = answer[1].etag if answer else None
                where.store.write_if(where.key, content, replaces=etag)
        except ConditionFailedError:
            lost += 1
            if lost == _LOST:
                break
            pause(random.uniform(0.05, 0.5))  # noqa: S311 - no secret
            continue
        _write(planned.directory.child(TABLE_NAME), table_of(results))
        _write(index, render(results, planned.directory.uri))
        latest = where.store.read(where.key)
        if latest is not None and latest[0] == content:
            break
    return results, index


def _write(where: Location, content: bytes) -> None:
    where.store.write(where.key, content)


def _all_journals(planned: Planned) -> list[ItemResult]:
    places = [journal_of(planned.directory, share) for share in range(planned.plan.shares)]
    with ThreadPoolExecutor(min(_THREADS, len(places)), thread_name_prefix="journals") as pool:
        found = list(pool.map(read_journal, places))
    return [result for journal in found if journal for result in journal.results]
