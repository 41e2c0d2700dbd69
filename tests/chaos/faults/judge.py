"""Whether a run that met a fault kept what is promised."""

from __future__ import annotations

from dataclasses import dataclass, field

from chaos.faults.cases import Case
from chaos.faults.proxy import Proxy, passed_on
from chaos.faults.rules import End
from chaos.faults.runs import PATIENT_SECONDS, Bench
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason

SILENT_SECONDS = 60.0
"""The timeout of the product, which these runs shorten."""
LONGEST_SECONDS = 1800.0
"""Of a run with a fault; waits and timeouts count with what they take without a test."""
FOR_GOOD = frozenset(
    (
        Reason.ACCESS_DENIED,
        Reason.SOURCE_NOT_FOUND,
        Reason.DIGEST_MISMATCH,
        Reason.INVALID_MANIFEST,
        Reason.DESTINATION_DENIED,
        Reason.DESTINATION_EXISTS,
        Reason.CHECKPOINT_CORRUPT,
    )
)
WORTH_ANOTHER = frozenset((Reason.STORE_UNAVAILABLE, Reason.SOURCE_CHANGED))


@dataclass
class Verdict:
    """How a case ended."""

    case: str
    ended: str
    seconds: float
    wrong: list[str] = field(default_factory=list)
    """A reader saw something else than a whole artifact, or the reason was wrong."""
    lost: list[str] = field(default_factory=list)
    """The next run, without the fault, did not end right."""
    leaked: list[str] = field(default_factory=list)
    """What the next run did not remove."""

    @property
    def held(self) -> bool:
        """Return whether all promises were kept."""
        return not (self.wrong or self.lost or self.leaked)


def judge(case: Case, bench: Bench, proxy: Proxy, seed: int) -> Verdict:
    """Run once with the fault and once without."""
    earlier = bench.published()
    expected = bench.put_checkpoint(seed)
    proxy.choose = case.choose
    try:
        result, clock = bench.run(proxy.endpoint)
    finally:
        proxy.choose = lambda _request: passed_on
    seconds = clock.seconds + case.met * (SILENT_SECONDS if case.rule.silent else 0)
    verdict = Verdict(case.name, _words(result), seconds)
    end = _end_of(result, verdict)
    allowed = case.rule.allowed(case.target.operation, stays=case.stays, tidying=case.tidying)
    if case.met and end is not None and end not in allowed:
        verdict.wrong.append(f"ended {end}, expected {' or '.join(sorted(allowed))}")
    if not case.met and end is not End.RIGHT:
        verdict.wrong.append("failed without a fault")
    if seconds > LONGEST_SECONDS:
        verdict.wrong.append(f"took {seconds:.0f} s")
    _judge_reader(bench, verdict, [expected] if end is End.RIGHT else [earlier, expected])
    _judge_next_run(bench, proxy, verdict, expected)
    return verdict


def _words(result: PodResult) -> str:
    failure = result.failure
    return f"{failure.reason}: {failure.message}" if failure else result.outcome


def _end_of(result: PodResult, verdict: Verdict) -> End | None:
    failure = result.failure
    if failure is None:
        return End.RIGHT
    if failure.reason in WORTH_ANOTHER and failure.retryable:
        return End.AGAIN
    if failure.reason in FOR_GOOD and not failure.retryable:
        return End.REFUSED
    verdict.wrong.append(f"{failure.reason} is no reason of a store")
    return None


def _judge_reader(bench: Bench, verdict: Verdict, expected: list[bytes | None]) -> None:
    try:
        if bench.published() not in expected:
            verdict.wrong.append("a reader sees neither the earlier nor the new artifact")
    except (AssertionError, ValueError, KeyError, StopIteration) as error:
        verdict.wrong.append(f"a reader sees no whole artifact: {error}")


def _judge_next_run(bench: Bench, proxy: Proxy, verdict: Verdict, expected: bytes) -> None:
    result, _ = bench.run(proxy.endpoint, PATIENT_SECONDS)
    if result.failure is not None:
        verdict.lost.append(f"the next run: {_words(result)}")
        return
    _judge_reader(bench, verdict, [expected])
    if not bench.plain_names_agree():
        verdict.wrong.append("model.onnx is another one than the manifest's")
    if left := bench.left():
        verdict.leaked.append(f"left: {', '.join(left)}")
