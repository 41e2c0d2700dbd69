"""The ladder of ways to ONNX: which one is tried next, given how the earlier ones failed.

    Dynamo -> DynamoStrict -> DynamoUnoptimized -> Script -> Trace

The first file that verifies wins. Rungs are data; the policy is pure: it sees the spec, what the
checkpoint is, and the attempts so far. Guarantees that a failure no other rung can cure (the
checkpoint, the factory, the inputs, the machine) ends the export at once, and that rungs which the
earlier failures make hopeless are skipped with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, Format, ModelExportSpec
from modelexport_api.status import Failure, Stage
from modelexport_exporter.blame.finding import Blame
from modelexport_exporter.diagnosis.pitfalls.pitfall import Pitfall
from modelexport_exporter.values import ROUTES, Rung

ORDER = (Rung.DYNAMO, Rung.DYNAMO_STRICT, Rung.DYNAMO_UNOPTIMIZED, Rung.SCRIPT, Rung.TRACE)
OLDEST_OF_DYNAMO = 18
"""The opset below which torch.export's route depends on onnx's version converter."""
NEWEST_OF_TORCH_SCRIPT = 20

CURABLE = frozenset(
    {
        Reason.CAPTURE_FAILED,
        Reason.UNSUPPORTED_OPERATOR,
        Reason.CONVERSION_FAILED,
        Reason.DYNAMIC_DIM_SPECIALIZED,
        Reason.CONTRACT_VIOLATED,
        Reason.VERIFICATION_FAILED,
        Reason.RUNTIME_FAILED,
        Reason.DEADLINE_EXCEEDED,
        Reason.WORKER_DIED,
        Reason.INTERNAL_ERROR,
    }
)
"""What another rung may do better: how the model is captured, translated and run."""

_BEFORE_CAPTURE = (None, Stage.FETCH, Stage.LOAD)

RANK = (
    Reason.UNSUPPORTED_OPERATOR,
    Reason.DYNAMIC_DIM_SPECIALIZED,
    Reason.CAPTURE_FAILED,
    Reason.VERIFICATION_FAILED,
    Reason.CONTRACT_VIOLATED,
    Reason.RUNTIME_FAILED,
    Reason.CONVERSION_FAILED,
    Reason.DEADLINE_EXCEEDED,
    Reason.WORKER_DIED,
    Reason.INTERNAL_ERROR,
)
"""Which reason tells a user most, where the rungs failed for different ones."""


@dataclass(frozen=True)
class Attempt:
    """One rung that was tried, and how it ended."""

    rung: Rung
    seconds: float
    failure: Failure | None = None
    """None: it verified."""
    not_deterministic: bool = False
    """Whether eager PyTorch itself gave two answers to one sample."""
    deferred: bool = False
    """Whether the worker handed its turn to the other route: a plugin wants it."""
    pitfalls: tuple[Pitfall, ...] = ()
    """Lines of the model that led to the failure."""
    blame: Blame | None = None
    """The node of its file that computes something else, after a mismatch."""

    @property
    def reason(self) -> Reason | None:
        """Return why it failed."""
        return self.failure.reason if self.failure else None


@dataclass(frozen=True)
class Step:
    """The rung to try."""

    rung: Rung
    insist: bool = False
    """Whether to go on although a plugin would rather have the other route."""


def next_step(
    spec: ModelExportSpec, checkpoint: Format | None, attempts: Sequence[Attempt]
) -> Step | None:
    """Return the next rung, or None when the ladder ends.

    `checkpoint`: the detected format; None where only loading tells.
    """
    if any(_ends_all(attempt) for attempt in attempts):
        return None
    deferred = {ROUTES[attempt.rung] for attempt in attempts if attempt.deferred}
    tried = {attempt.rung for attempt in attempts if not attempt.deferred}
    open_rungs = [
        rung
        for rung in _rungs(spec, checkpoint)
        if rung not in tried and not hopeless(rung, spec, attempts)
    ]
    for rung in open_rungs:
        if ROUTES[rung] not in deferred:
            return Step(rung)
    return Step(open_rungs[0], insist=True) if open_rungs else None


def _rungs(spec: ModelExportSpec, checkpoint: Format | None) -> tuple[Rung, ...]:
    """Return the rungs in the order in which they are tried."""
    if checkpoint is Format.TORCH_SCRIPT:
        return (Rung.SCRIPT,)
    pinned = spec.export.exporter
    if checkpoint is Format.EXPORTED_PROGRAM:
        pinned = Exporter.DYNAMO
    rungs = [rung for rung in ORDER if pinned in {Exporter.AUTO, ROUTES[rung]}]
    if spec.export.opset < OLDEST_OF_DYNAMO:
        rungs.sort(key=lambda rung: ROUTES[rung] is Exporter.DYNAMO)
    if spec.export.opset > NEWEST_OF_TORCH_SCRIPT:
        rungs = [rung for rung in rungs if ROUTES[rung] is Exporter.DYNAMO]
    return tuple(rungs)


def _ends_all(attempt: Attempt) -> bool:
    if attempt.deferred:
        return False
    if attempt.failure is None or attempt.reason not in CURABLE or attempt.not_deterministic:
        return True
    # What cannot be loaded cannot be loaded for another rung.
    return attempt.failure.stage in _BEFORE_CAPTURE


def hopeless(rung: Rung, spec: ModelExportSpec, attempts: Sequence[Attempt]) -> str:
    """Return why a rung need not be tried; empty when it may help."""
    failed = {attempt.rung: attempt.reason for attempt in _failed(attempts)}
    dynamo = [reason for known, reason in failed.items() if ROUTES[known] is Exporter.DYNAMO]
    if ROUTES[rung] is Exporter.DYNAMO and Reason.UNSUPPORTED_OPERATOR in dynamo:
        return "the operators have no translation on this route"
    if rung is Rung.DYNAMO_STRICT:
        return _strict_is_hopeless(failed.get(Rung.DYNAMO))
    if rung is Rung.DYNAMO_UNOPTIMIZED:
        if not spec.export.optimize:
            return "the file was not optimized before"
        if not any(reason in _MADE_A_GRAPH for reason in dynamo):
            return "torch.export captured no graph"
    return ""


_MADE_A_GRAPH = frozenset(
    {
        Reason.CONVERSION_FAILED,
        Reason.CONTRACT_VIOLATED,
        Reason.VERIFICATION_FAILED,
        Reason.RUNTIME_FAILED,
        Reason.WORKER_DIED,
        Reason.INTERNAL_ERROR,
        Reason.DEADLINE_EXCEEDED,
    }
)


def _strict_is_hopeless(first: Reason | None) -> str:
    """Tell when reading the bytecode changes nothing: it is another way to the same graph."""
    if first in {Reason.CONVERSION_FAILED, Reason.RUNTIME_FAILED, Reason.CONTRACT_VIOLATED}:
        return "the graph was captured; its translation failed"
    return ""


def attempt_deadline(now: float, deadline: float) -> float:
    """Return when an attempt is stopped: half of the time that remains is left to the others.

    Both in `time.monotonic()` seconds. An export that takes its whole time on the first rung would
    end as DeadlineExceeded without an answer from any other.
    """
    return now + (deadline - now) / 2


def telling(spec: ModelExportSpec, attempts: Sequence[Attempt]) -> Attempt:
    """Return the failed attempt that says most about why the model cannot be exported."""
    failed = _failed(attempts)
    fatal = [attempt for attempt in failed if _ends_all(attempt)]
    if fatal:
        return fatal[-1]
    return min(failed, key=lambda attempt: _how_telling(attempt, spec, failed))


def _how_telling(
    attempt: Attempt, spec: ModelExportSpec, failed: Sequence[Attempt]
) -> tuple[bool, bool, bool, int]:
    """Return a sort key: by reason, with what is beside the point heard last.

    torch.export's route only says that it does not write an opset that is too old for it. The
    compiler speaks of its own subset of Python. An operator that TorchScript's exporter lacks is
    no news where the other route translated it and got further.
    """
    route = ROUTES[attempt.rung]
    old = spec.export.opset < OLDEST_OF_DYNAMO
    translated = not old and any(
        ROUTES[other.rung] is Exporter.DYNAMO and other.reason in _TRANSLATED for other in failed
    )
    lacking = route is Exporter.TORCH_SCRIPT and attempt.reason is Reason.UNSUPPORTED_OPERATOR
    rank = RANK.index(attempt.reason or Reason.INTERNAL_ERROR)
    only_age = old and route is Exporter.DYNAMO
    return only_age, attempt.rung is Rung.SCRIPT, lacking and translated, rank


_TRANSLATED = frozenset(
    {
        Reason.CONTRACT_VIOLATED,
        Reason.CONVERSION_FAILED,
        Reason.RUNTIME_FAILED,
        Reason.VERIFICATION_FAILED,
    }
)


def summary(attempts: Sequence[Attempt]) -> str:
    """Return `Dynamo: CaptureFailed; Trace: VerificationFailed`; empty for a single attempt."""
    failed = _failed(attempts)
    if len(failed) <= 1:
        return ""
    return "; ".join(f"{attempt.rung.value}: {attempt.reason}" for attempt in failed)


def _failed(attempts: Sequence[Attempt]) -> list[Attempt]:
    return [attempt for attempt in attempts if attempt.failure and not attempt.deferred]
