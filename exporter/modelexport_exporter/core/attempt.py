"""One rung of the ladder that was tried, and which of several failures to report to the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, ModelExportSpec
from modelexport_api.status import Failure, Stage, Support
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.types import ROUTES, Rung

OLDEST_OF_DYNAMO = 18
"""The opset below which torch.export's route depends on onnx's version converter."""

CURABLE = frozenset(
    {
        Reason.CAPTURE_FAILED,
        Reason.UNSUPPORTED_OPERATOR,
        Reason.CONVERSION_FAILED,
        Reason.DYNAMIC_DIM_SPECIALIZED,
        Reason.CONTRACT_VIOLATED,
        Reason.VERIFICATION_FAILED,
        Reason.BRANCH_NOT_COMPARED,
        Reason.RUNTIME_FAILED,
        Reason.DEADLINE_EXCEEDED,
        Reason.WORKER_DIED,
        Reason.INTERNAL_ERROR,
    }
)
"""Failures that another rung may avoid: in capture, translation and execution."""

_BEFORE_CAPTURE = (None, Stage.FETCH, Stage.LOAD)

_BY_REASON = (
    Reason.UNSUPPORTED_OPERATOR,
    Reason.DYNAMIC_DIM_SPECIALIZED,
    Reason.CAPTURE_FAILED,
    Reason.VERIFICATION_FAILED,
    Reason.BRANCH_NOT_COMPARED,
    Reason.CONTRACT_VIOLATED,
    Reason.RUNTIME_FAILED,
    Reason.CONVERSION_FAILED,
    Reason.DEADLINE_EXCEEDED,
    Reason.WORKER_DIED,
    Reason.INTERNAL_ERROR,
)
"""The most informative reason first, if the rungs failed for different ones."""


@dataclass(frozen=True)
class Attempt:
    """One rung that was tried, and how it ended."""

    rung: Rung
    seconds: float
    failure: Failure | None = None
    """None: it verified."""
    incurable: bool = False
    """Whether it is a failure of the model itself, whatever the rung."""
    deferred: bool = False
    """Whether the worker deferred to the other route, which a plugin requires."""
    pitfalls: tuple[Pitfall, ...] = ()
    """Lines of the model that led to the failure."""
    holds_for_some_sizes: bool = False
    """Whether torch.export assumed conditions that some declared sizes do not fulfil."""
    differs_at_any_size: bool = False
    """Whether its file differs at the sizes of the capture too: no fixed size explains it."""
    blame: Blame | None = None
    """The node of its file that computes something else, after a mismatch."""

    @property
    def reason(self) -> Reason | None:
        """Return why it failed."""
        return self.failure.reason if self.failure else None

    @property
    def ends_ladder(self) -> bool:
        """Return whether no other rung is tried after this one."""
        if self.deferred:
            return False
        if self.failure is None or self.reason not in CURABLE or self.incurable:
            return True
        # What cannot be loaded cannot be loaded for another rung.
        return self.failure.stage in _BEFORE_CAPTURE


def failed_attempts(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts that failed, without deferred ones."""
    return [attempt for attempt in attempts if attempt.failure and not attempt.deferred]


def most_informative(spec: ModelExportSpec, attempts: Sequence[Attempt]) -> Attempt:
    """Return the failed attempt that best explains why the model cannot be exported."""
    failed = failed_attempts(attempts)
    fatal = [attempt for attempt in failed if attempt.ends_ladder]
    if fatal:
        return fatal[-1]
    return min(failed, key=lambda attempt: _rank(attempt, spec, failed))


def _rank(
    attempt: Attempt, spec: ModelExportSpec, failed: Sequence[Attempt]
) -> tuple[bool, bool, bool, int]:
    """Return a sort key: by reason, with what is least relevant last.

    torch.export's route only says that it does not write an opset that is too old for it. The
    compiler speaks of its own subset of Python. An operator that TorchScript's exporter lacks is
    no news where the other route translates it. A size that one rung of torch.export fixes is no
    obstacle where another one kept it open, and failed for something else.
    """
    route = ROUTES[attempt.rung]
    old = spec.export.opset < OLDEST_OF_DYNAMO
    ops = attempt.failure.ops if attempt.failure else []
    decomposable = bool(ops) and all(op.support is Support.DECOMPOSABLE for op in ops)
    translated = not old and any(
        ROUTES[other.rung] is Exporter.DYNAMO and (decomposable or other.reason in _TRANSLATED)
        for other in failed
    )
    lacking = route is Exporter.TORCH_SCRIPT and attempt.reason is Reason.UNSUPPORTED_OPERATOR
    kept_open = attempt.reason is Reason.DYNAMIC_DIM_SPECIALIZED and any(map(_keeps_sizes, failed))
    rank = _BY_REASON.index(attempt.reason or Reason.INTERNAL_ERROR)
    only_age = old and route is Exporter.DYNAMO
    return only_age, attempt.rung is Rung.SCRIPT, (lacking and translated) or kept_open, rank


def _keeps_sizes(attempt: Attempt) -> bool:
    """Return whether torch.export kept all sizes open: its file fails for another reason."""
    if attempt.rung not in _WHOLE_GRAPHS or attempt.holds_for_some_sizes:
        return False
    return attempt.differs_at_any_size or attempt.reason in _NOT_OF_SIZES


_TRANSLATED = frozenset(
    {
        Reason.CONTRACT_VIOLATED,
        Reason.CONVERSION_FAILED,
        Reason.RUNTIME_FAILED,
        Reason.VERIFICATION_FAILED,
    }
)

_WHOLE_GRAPHS = (Rung.DYNAMO, Rung.DYNAMO_STRICT, Rung.DYNAMO_UNOPTIMIZED)
_NOT_OF_SIZES = frozenset({Reason.CONTRACT_VIOLATED, Reason.CONVERSION_FAILED})
"""After the capture, which refuses sizes that it cannot keep open."""
