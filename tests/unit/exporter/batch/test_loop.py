"""A share of a batch with an engine that only answers: order, retries, kills, what ends it."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from batches import FakeEngine, batch, failed, verified
from modelexport_api.items import ShareCounts
from modelexport_api.pod import PodResult
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.resource import ModelExport
from modelexport_api.status import Stage
from modelexport_exporter.batch import loop as loops
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.batch.journal import JournalWriter
from modelexport_exporter.batch.loop import Loop
from modelexport_exporter.batch.plan import make_plan
from modelexport_exporter.batch.run import Part, run_share
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.isolation.interruption import interruptible
from modelexport_exporter.pipeline.context import Settings


@dataclass
class Bench:
    """A directory of checkpoints, and everything to run a batch of them."""

    directory: Path
    engine: FakeEngine = field(default_factory=FakeEngine)

    def write(self, *names: str) -> None:
        for name in names:
            path = self.directory / "run" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(name.encode())

    def resource(self, pattern: str = "*.pt", **spec: Any) -> ModelExport:  # noqa: ANN401
        source = {"uri": f"file://{self.directory}/run/{pattern}"}
        destination = spec.pop("to", "{stem}")
        return batch(source, f"file://{self.directory}/onnx/{destination}/", **spec)

    def run(self, resource: ModelExport | None = None, part: Part | None = None) -> PodResult:
        with (self.directory / "log").open("a") as log:
            return run_share(
                resource or self.resource(),
                Settings(self.directory / "work"),
                JsonLog(log),
                part or Part(),
                lambda _settings: self.engine,
            ).result

    def loop(
        self,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        **spec: Any,  # noqa: ANN401
    ) -> Loop:
        """The loop of the first share, as a process of a pod begins it."""
        planned = make_plan(self.resource(uid="u", **spec), 1)
        log = JsonLog(io.StringIO())
        journal = JournalWriter(planned.directory, 0, log)
        journal.resume(again=False)
        return Loop(planned, 0, journal, self.engine, log, pause, clock)

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / "log").read_text().splitlines()]

    def results(self) -> list[ItemResult]:
        found = next(self.directory.glob("onnx/batches/*/results.json"))
        return [ItemResult.model_validate(item) for item in json.loads(found.read_text())["items"]]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(loops, "retry_delay", lambda _attempt, _spread: 0.0)
    made = Bench(tmp_path)
    made.write("fold-1.pt", "fold-2.pt", "fold-3.pt")
    return made


def counts(result: PodResult) -> ShareCounts:
    assert result.share is not None
    return result.share


def test_every_checkpoint_is_exported_and_reported(bench: Bench) -> None:
    result = bench.run()
    assert result.exit_code is ExitCode.DONE
    assert bench.engine.asked == ["fold-1.pt", "fold-2.pt", "fold-3.pt"]
    found = counts(result)
    assert (found.batch_total, found.share_total, found.succeeded, found.failed) == (3, 3, 3, 0)
    assert result.report_uri is not None
    assert result.report_uri.endswith("/index.html")
    assert result.completed == list(Stage)
    assert [item.outcome for item in bench.results()] == ["Succeeded"] * 3
    assert bench.engine.closed == 1


def test_the_engine_gets_what_comes_next(bench: Bench) -> None:
    bench.run()
    assert bench.engine.followed_by == [["fold-2.pt", "fold-3.pt"], ["fold-3.pt"], []]


def test_progress_is_over_the_share_and_names_the_checkpoint(bench: Bench) -> None:
    bench.run()
    moved = [line for line in bench.log if "progress" in line]
    assert [line["progress"]["percent"] for line in moved] == [0, 16, 33, 50, 66, 83, 100]
    assert moved[3]["progress"]["message"] == "fold-2.pt (2 of 3): comparing"
    assert moved[3]["share"]["succeeded"] == 1
    assert moved[3]["share"]["running"] == 1
    assert moved[-1]["share"] == counts(bench.run()).to_wire()
    said = [line["message"] for line in bench.log if "progress" not in line]
    assert said[0].startswith("fold-1.pt: verified, 1/4 of the tolerance")


def test_one_bad_checkpoint_never_spoils_the_others(bench: Bench) -> None:
    bench.engine.answers["fold-1.pt"] = [failed(Reason.CHECKPOINT_CORRUPT, "no zip archive")]
    result = bench.run()
    assert result.outcome == "Succeeded"
    found = counts(result)
    assert (found.succeeded, found.failed) == (2, 1)
    assert found.reasons == {"CheckpointCorrupt": 1}
    assert found.example == "fold-1.pt: CheckpointCorrupt: no zip archive"


def test_an_unexpected_error_fails_only_its_checkpoint(bench: Bench) -> None:
    bench.engine.answers["fold-2.pt"] = [KeyError("oops")]
    assert counts(bench.run()).reasons == {"InternalError": 1}
    assert any("Traceback" in line["message"] for line in bench.log)


def test_what_may_pass_is_tried_again_a_few_times(bench: Bench) -> None:
    busy = failed(Reason.STORE_UNAVAILABLE, "503 SlowDown")
    bench.engine.answers["fold-1.pt"] = [busy, failed(Reason.SOURCE_CHANGED)]
    bench.engine.answers["fold-2.pt"] = [busy] * 9
    bench.engine.answers["fold-3.pt"] = [failed(Reason.CHECKPOINT_CORRUPT)]
    found = counts(bench.run())
    assert found.reasons == {"CheckpointCorrupt": 1, "StoreUnavailable": 1}
    assert [item.attempts for item in bench.results()] == [3, 3, 1]


@pytest.mark.parametrize(
    "reason", [Reason.CODE_INVALID, Reason.FACTORY_NOT_FOUND, Reason.PROVIDER_UNAVAILABLE]
)
def test_what_all_share_ends_the_batch_after_two(bench: Bench, reason: Reason) -> None:
    for name in ("fold-1.pt", "fold-2.pt"):
        bench.engine.answers[name] = [failed(reason, "it is nowhere")]
    result = bench.run()
    assert result.failure is not None
    assert result.failure.reason is reason
    assert bench.engine.asked == ["fold-1.pt", "fold-2.pt"]
    assert [item.outcome for item in bench.results()] == ["Failed", "Failed", "Pending"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (None, Reason.FACTORY_NOT_FOUND),
        (Reason.FACTORY_NOT_FOUND, None),
        (Reason.CHECKPOINT_CORRUPT, Reason.FACTORY_NOT_FOUND),
        (Reason.ACCESS_DENIED, Reason.ACCESS_DENIED),
        (Reason.DESTINATION_DENIED, Reason.DESTINATION_DENIED),
    ],
)
def test_what_one_checkpoint_may_cause_does_not(
    bench: Bench, first: Reason | None, second: Reason | None
) -> None:
    for name, reason in (("fold-1.pt", first), ("fold-2.pt", second)):
        if reason is not None:
            bench.engine.answers[name] = [failed(reason)]
    assert bench.run().outcome == "Succeeded"
    assert len(bench.engine.asked) == 3


def test_a_pod_that_is_started_again_goes_on(bench: Bench) -> None:
    resource = bench.resource(uid="u")
    bench.engine.answers["fold-1.pt"] = [failed(Reason.CHECKPOINT_CORRUPT)]
    bench.engine.answers["fold-2.pt"] = [failed(Reason.INTERRUPTED, "stopped by SIGTERM")]
    result = bench.run(resource)
    assert result.exit_code is ExitCode.RETRYABLE
    assert counts(result).failed == 1
    assert [item.outcome for item in bench.results()] == ["Failed", "Pending", "Pending"]

    bench.engine = FakeEngine()
    assert bench.run(resource).outcome == "Succeeded"
    assert bench.engine.asked == ["fold-2.pt", "fold-3.pt"]
    assert [item.outcome for item in bench.results()] == ["Failed", "Succeeded", "Succeeded"]


def test_what_arrives_later_changes_nothing(bench: Bench) -> None:
    resource = bench.resource(uid="u")
    bench.run(resource)
    bench.write("fold-0.pt")
    assert counts(bench.run(resource)).batch_total == 3
    assert len(bench.engine.asked) == 3


def test_a_local_run_looks_anew_and_tries_what_failed_again(bench: Bench) -> None:
    bench.engine.answers["fold-1.pt"] = [failed(Reason.CHECKPOINT_CORRUPT)]
    assert counts(bench.run()).failed == 1
    bench.write("fold-0.pt")
    found = counts(bench.run())
    assert (found.batch_total, found.succeeded) == (4, 4)


def test_a_signal_while_it_waits_ends_the_pod_and_is_no_kill(bench: Bench) -> None:
    bench.engine.answers["fold-1.pt"] = [failed(Reason.STORE_UNAVAILABLE)]
    loop = bench.loop(pause=lambda _seconds: os.kill(os.getpid(), signal.SIGTERM))
    with interruptible():
        failure = loop.run()
    assert failure is not None
    assert failure.reason is Reason.INTERRUPTED
    assert bench.engine.asked == ["fold-1.pt"]
    assert not bench.loop().journal.kills(f"file://{bench.directory}/run/fold-1.pt")


def test_a_checkpoint_that_kills_twice_is_left_out(bench: Bench) -> None:
    """SIGKILL: simulated by an exception that no handler catches."""

    class Killed(BaseException):
        pass

    def kill(item: ModelExport) -> None:
        if item.spec.source.one.endswith("fold-2.pt"):
            raise Killed

    resource = bench.resource(uid="u")
    bench.engine.first = kill
    for _ in range(2):
        with pytest.raises(Killed):
            bench.run(resource)
    result = bench.run(resource)
    assert counts(result).reasons == {"PodKilled": 1}
    assert bench.engine.asked.count("fold-2.pt") == 2
    assert bench.engine.asked.count("fold-3.pt") == 1
    [_, poison, _] = bench.results()
    assert "killed 2 times" in poison.message


def test_nothing_is_prepared_during_a_checkpoint_that_a_pod_died_of(bench: Bench) -> None:
    """It may have been the next one that was too large: alone, the first gets its own answer."""

    class Killed(BaseException):
        pass

    def kill(_item: ModelExport) -> None:
        if len(bench.engine.asked) == 1:
            raise Killed

    resource = bench.resource(uid="u")
    bench.engine.first = kill
    with pytest.raises(Killed):
        bench.run(resource)
    bench.run(resource)
    assert bench.engine.followed_by[-3:] == [[], ["fold-3.pt"], []]


def test_the_deadline_ends_the_batch(bench: Bench) -> None:
    now = iter(range(0, 10_000, 25))
    loop = bench.loop(clock=lambda: float(next(now)), activeDeadlineSeconds=200)
    failure = loop.run()
    assert failure is not None
    assert failure.reason is Reason.DEADLINE_EXCEEDED
    assert 0 < loop.counts().succeeded < 3


def test_two_shares_make_one_batch(bench: Bench) -> None:
    resource = bench.resource(uid="u", parallelism=2)
    first = bench.run(resource, Part(0, 2))
    second = bench.run(resource, Part(1, 2))
    assert counts(first).share_total + counts(second).share_total == 3
    assert sorted(bench.engine.asked) == ["fold-1.pt", "fold-2.pt", "fold-3.pt"]
    assert [item.outcome for item in bench.results()] == ["Succeeded"] * 3


def test_a_pod_without_a_share_is_done_at_once(bench: Bench) -> None:
    result = bench.run(bench.resource(uid="u", parallelism=9), Part(8, 9))
    assert result.exit_code is ExitCode.DONE
    assert counts(result).share_total == 0
    assert [line["progress"]["percent"] for line in bench.log if "progress" in line] == [100]


@pytest.mark.parametrize(
    ("pattern", "to", "reason"),
    [
        ("*.safetensors", "{stem}", Reason.NOTHING_MATCHED),
        ("*.pt", "x{parent}", Reason.DESTINATIONS_COLLIDE),
    ],
)
def test_a_batch_that_must_not_begin(bench: Bench, pattern: str, to: str, reason: Reason) -> None:
    result = bench.run(bench.resource(pattern, to=to))
    assert result.failure is not None
    assert result.failure.reason is reason
    assert result.exit_code in {ExitCode.SOURCE, ExitCode.DESTINATION}
    assert bench.engine.asked == []
    assert not (bench.directory / "onnx").exists()


def test_uris_are_literal_and_keep_their_order(bench: Bench) -> None:
    bench.write("[1].pt")
    uris = [f"file://{bench.directory}/run/{name}" for name in ("fold-2.pt", "%5B1%5D.pt")]
    resource = batch({"uris": uris}, f"file://{bench.directory}/onnx/{{index}}/")
    bench.run(resource)
    assert bench.engine.asked == ["fold-2.pt", "%5B1%5D.pt"]
    assert [item.destination[-3:] for item in bench.results()] == ["/0/", "/1/"]


def test_the_worst_error_is_kept_where_json_has_no_number(bench: Bench) -> None:
    result = verified(bench.resource())
    assert result.verification is not None
    wrong = result.verification.model_copy(update={"max_rel_error": float("inf")})
    broken = failed(Reason.VERIFICATION_FAILED).model_copy(update={"verification": wrong})
    bench.engine.answers["fold-1.pt"] = [broken]
    bench.run()
    assert bench.results()[0].max_rel_error == "inf"
