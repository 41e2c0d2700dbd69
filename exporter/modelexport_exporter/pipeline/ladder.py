"""The ladder of ways to ONNX: which one is tried next, given how the earlier ones failed.

    Dynamo -> DynamoStrict -> DynamoUnoptimized -> Script -> DynamoBySize -> DynamoByValue -> Trace

The first file that verifies wins. Rungs are data; the policy is pure: it depends on the spec, the
format of the checkpoint, and the attempts so far. Guarantees that a failure which no other rung can
avoid (the checkpoint, the factory, the inputs, the machine) ends the export at once, and that rungs
which cannot succeed after the earlier failures are skipped with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, Format, InputKind, ModelExportSpec
from modelexport_exporter.core.attempt import OLDEST_OF_DYNAMO, Attempt, failed_attempts
from modelexport_exporter.core.dims import has_derived_sizes
from modelexport_exporter.core.pitfall import PitfallKind
from modelexport_exporter.core.types import ROUTES, Rung

ORDER = (
    Rung.DYNAMO,
    Rung.DYNAMO_STRICT,
    Rung.DYNAMO_UNOPTIMIZED,
    Rung.SCRIPT,
    Rung.DYNAMO_BY_SIZE,
    Rung.DYNAMO_BY_VALUE,
    Rung.TRACE,
)
NEWEST_OF_TORCH_SCRIPT = 20


@dataclass(frozen=True)
class Step:
    """The rung to try."""

    rung: Rung
    force: bool = False
    """Whether to continue although a plugin prefers the other route."""


def next_step(
    spec: ModelExportSpec, checkpoint: Format | None, attempts: Sequence[Attempt]
) -> Step | None:
    """Return the next rung, or None when the ladder ends.

    `checkpoint`: the detected format; None if only loading can detect it.
    """
    if any(attempt.ends_ladder for attempt in attempts):
        return None
    deferred = {ROUTES[attempt.rung] for attempt in attempts if attempt.deferred}
    open_rungs = _open_rungs(spec, checkpoint, attempts)
    for rung in open_rungs:
        if ROUTES[rung] not in deferred:
            return Step(rung)
    return Step(open_rungs[0], force=True) if open_rungs else None


def possible_attempts(
    spec: ModelExportSpec, checkpoint: Format | None, attempts: Sequence[Attempt]
) -> int:
    """Return how many attempts there are at most, as far as it is known after these."""
    return len(attempts) + len(_open_rungs(spec, checkpoint, attempts))


def _open_rungs(
    spec: ModelExportSpec, checkpoint: Format | None, attempts: Sequence[Attempt]
) -> list[Rung]:
    tried = {attempt.rung for attempt in attempts if not attempt.deferred}
    return [
        rung
        for rung in _rungs(spec, checkpoint)
        if rung not in tried and not hopeless(rung, spec, attempts)
    ]


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


def hopeless(rung: Rung, spec: ModelExportSpec, attempts: Sequence[Attempt]) -> str:
    """Return why a rung need not be tried; empty when it may help."""
    failed = {attempt.rung: attempt.reason for attempt in failed_attempts(attempts)}
    dynamo = [reason for known, reason in failed.items() if ROUTES[known] is Exporter.DYNAMO]
    if ROUTES[rung] is Exporter.DYNAMO and Reason.UNSUPPORTED_OPERATOR in dynamo:
        return "the operators have no translation on this route"
    why = {
        Rung.DYNAMO_STRICT: _why_strict_cannot_help(failed.get(Rung.DYNAMO)),
        Rung.DYNAMO_BY_SIZE: _why_one_graph_holds(spec, attempts),
        Rung.DYNAMO_UNOPTIMIZED: _why_unoptimized_cannot_help(spec, dynamo),
        Rung.DYNAMO_BY_VALUE: _why_one_path_is_enough(spec, dynamo),
    }
    return why.get(rung, "")


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


def _why_one_graph_holds(spec: ModelExportSpec, attempts: Sequence[Attempt]) -> str:
    """Return why no graph is needed for other sizes; empty if one held for a part of them.

    Or if the code decides by a size: not every such decision is a condition of the graph.
    """
    if has_derived_sizes(spec.inputs):
        return "torch.export states no parts of sizes that follow from others"
    parts = any(
        attempt.reason is Reason.DYNAMIC_DIM_SPECIALIZED
        or attempt.holds_for_some_sizes
        or PitfallKind.SIZE_BRANCH in _kinds(attempt)
        for attempt in failed_attempts(attempts)
        if ROUTES[attempt.rung] is Exporter.DYNAMO
    )
    return "" if parts else "the graph does not depend on sizes"


def _kinds(attempt: Attempt) -> set[PitfallKind]:
    return {pitfall.kind for pitfall in attempt.pitfalls}


def _why_one_path_is_enough(spec: ModelExportSpec, dynamo: Sequence[Reason | None]) -> str:
    """Return why no other path of forward is needed; empty if a decision may have failed.

    What forward does with a number of Python need not be in a graph that was captured.
    """
    decides = Reason.VERIFICATION_FAILED in dynamo and any(
        entry.kind is InputKind.INT for entry in spec.inputs
    )
    return "" if decides or Reason.CAPTURE_FAILED in dynamo else "torch.export captured the graph"


def _why_unoptimized_cannot_help(spec: ModelExportSpec, dynamo: Sequence[Reason | None]) -> str:
    """Return why leaving the optimizer out cannot help; empty if it can."""
    if not spec.export.optimize:
        return "the file was not optimized before"
    if not any(reason in _MADE_A_GRAPH for reason in dynamo):
        return "torch.export captured no graph"
    return ""


def _why_strict_cannot_help(first: Reason | None) -> str:
    """Return why reading the bytecode cannot help; empty if it can."""
    if first in {Reason.CONVERSION_FAILED, Reason.RUNTIME_FAILED, Reason.CONTRACT_VIOLATED}:
        return "the graph was captured; its translation failed"
    return ""


def attempt_deadline(now: float, deadline: float) -> float:
    """Return when an attempt is stopped: half of the time that remains is left to the others.

    Both in `time.monotonic()` seconds. Otherwise an export that spends all its time on the first
    rung would end as DeadlineExceeded without trying any other.
    """
    return now + (deadline - now) / 2


def other_routes(
    spec: ModelExportSpec, checkpoint: Format | None, attempts: Sequence[Attempt]
) -> str:
    """Return the advice to let other routes be tried; empty where none is left."""
    export = spec.export.model_copy(update={"exporter": Exporter.AUTO})
    any_route = spec.model_copy(update={"export": export})
    if next_step(any_route, checkpoint, attempts) is None:
        return ""
    return "Or leave export.exporter out: another route is tried then."


def summary(attempts: Sequence[Attempt]) -> str:
    """Return `Dynamo: CaptureFailed; Trace: VerificationFailed`; empty for a single attempt."""
    failed = failed_attempts(attempts)
    if len(failed) <= 1:
        return ""
    return "; ".join(f"{attempt.rung.value}: {attempt.reason}" for attempt in failed)
