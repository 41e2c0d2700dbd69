"""A thousand checkpoints: everything but the exports themselves is real, and small, and fast."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from batches import FakeEngine, batch
from modelexport_api.pod import MAX_TERMINATION_BYTES, PodResult, encode_termination
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Storage
from modelexport_exporter.batch.plan import directory_of
from modelexport_exporter.batch.results import Results
from modelexport_exporter.batch.run import Part, run_share
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.storage.store import Location

COUNT = 1000
SHARES = 4


class KilledError(BaseException):
    """Nothing of this process runs any more."""


def run(resource: ModelExport, engine: FakeEngine, share: int, tmp_path: Path) -> PodResult:
    with (tmp_path / "log").open("a") as log:
        settings = Settings(tmp_path / "work")
        made = run_share(resource, settings, JsonLog(log), Part(share, SHARES), lambda _s: engine)
    return made.result


def test_a_thousand_checkpoints_in_four_pods_one_of_which_is_killed(
    root: str, storage: Storage, place: Callable[..., Location], tmp_path: Path
) -> None:
    directory = place("run/")
    for number in range(COUNT):
        where = directory.child(f"fold-{number:04d}.pt")
        where.store.write(where.key, b"x" * number)
    resource = batch(
        {"uri": f"{root}run/*.pt"},
        f"{root}onnx/{{stem}}/",
        storage=storage.to_wire(),
        uid="u",
        parallelism=SHARES,
    )
    started = time.monotonic()
    asked: list[str] = []

    def kill(_item: ModelExport) -> None:
        if len(first.asked) == 100:
            raise KilledError

    first = FakeEngine(first=kill)
    try:
        run(resource, first, 0, tmp_path)
    except KilledError:
        asked += first.asked
    assert len(asked) == 100
    for share in range(SHARES):
        engine = FakeEngine()
        result = run(resource, engine, share, tmp_path)
        asked += engine.asked
        assert result.share is not None
        assert 200 < result.share.share_total < 300
        assert len(encode_termination(result).encode()) < MAX_TERMINATION_BYTES
    seconds = time.monotonic() - started

    def read(name: str) -> bytes:
        where = directory_of(resource).child(name)
        answer = where.store.read(where.key)
        assert answer is not None
        return answer[0]

    results = Results.model_validate_json(read("results.json"))
    assert (results.total, results.succeeded, results.pending) == (COUNT, COUNT, 0)
    assert len(set(asked)) == COUNT
    again = len(asked) - COUNT
    plan, page, table = read("plan.json"), read("index.html"), read("results.csv")
    print(
        f"{seconds:.1f} s, {again} looked at again; plan {len(plan)}, results "
        f"{len(read('results.json'))}, page {len(page)}, table {len(table)} bytes",
        file=sys.stderr,
    )
    assert len(plan) < 500_000
    assert len(page) < 1_500_000
    assert page.count(b"Verified</span>") == COUNT
    assert len(table.splitlines()) == COUNT + 1
    sizes = [0] * SHARES
    for item in json.loads(plan)["items"]:
        sizes[item["share"]] += item["sizeBytes"]
    assert max(sizes) - min(sizes) < COUNT, "the shares are even"
    assert seconds < 120, "a small cost next to exports of seconds each"
