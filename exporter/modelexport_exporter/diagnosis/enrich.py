"""Describes a failure with the lines of the model that caused it: pure, and free of torch.

A line that the failure itself names comes first, then what was seen to go wrong when the model ran,
then what its code shows and what can lead to such a failure.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from modelexport_api.reasons import Reason
from modelexport_api.status import FAILURE_HINT_LIMIT, FAILURE_MESSAGE_LIMIT
from modelexport_exporter.core.errors import ExportFailure, NotDeterministic, VaryingOutputs
from modelexport_exporter.core.pitfall import CERTAIN, Pitfall, PitfallKind

_MOST = 3
_ROOM = 900
"""How much of the message the causes may take."""

_OF_SIZES = frozenset(
    {
        PitfallKind.SIZE_BRANCH,
        PitfallKind.SIZE_LOOP,
        PitfallKind.LIST_APPEND,
        PitfallKind.SHAPE_ARITHMETIC,
        PitfallKind.TYPE_CHECK,
        PitfallKind.PYTHON_NUMBER,
        PitfallKind.BAKED,
    }
)
_OF_DATA = frozenset(
    {
        PitfallKind.DATA_BRANCH,
        PitfallKind.DATA_LOOP,
        PitfallKind.PYTHON_NUMBER,
        PitfallKind.NUMPY,
        PitfallKind.STATE,
        PitfallKind.CAUGHT_ERROR,
        PitfallKind.THREAD,
    }
)
_OF_TRANSLATION = frozenset(
    {
        PitfallKind.GRADIENT,
        PitfallKind.INDEX_WRITE,
        PitfallKind.INDEX_READ,
        PitfallKind.INPUT_WRITE,
        PitfallKind.DATA_LOOP,
        PitfallKind.STATE,
    }
)
_INSTEAD = frozenset({PitfallKind.THREAD, PitfallKind.QUANTIZED})
"""Causes that explain a failure better than torch's own sentence does."""
_UNLIKE_ITSELF = frozenset(
    {PitfallKind.NOT_DETERMINISTIC, PitfallKind.RANDOM, PitfallKind.STATE, PitfallKind.INPUT_WRITE}
)
"""What makes a model answer twice in two ways."""
CAUSES: dict[Reason, frozenset[PitfallKind]] = {
    Reason.CAPTURE_FAILED: _OF_DATA | _OF_SIZES | _OF_TRANSLATION,
    Reason.CONVERSION_FAILED: _OF_TRANSLATION,
    Reason.DYNAMIC_DIM_SPECIALIZED: _OF_SIZES | {PitfallKind.NUMPY},
    Reason.CONTRACT_VIOLATED: frozenset({PitfallKind.PYTHON_NUMBER, PitfallKind.NUMPY}),
    Reason.VERIFICATION_FAILED: frozenset(PitfallKind),
    Reason.ILL_CONDITIONED: _UNLIKE_ITSELF,
    Reason.UNSUPPORTED_OPERATOR: _UNLIKE_ITSELF,
    Reason.RUNTIME_FAILED: _OF_SIZES | _OF_TRANSLATION | _OF_DATA,
}
"""Which pitfalls can lead to which failure, where the message names no line."""
_OF_VARYING_OUTPUTS = frozenset(
    {
        PitfallKind.DATA_BRANCH,
        PitfallKind.DATA_LOOP,
        PitfallKind.SIZE_BRANCH,
        PitfallKind.SIZE_LOOP,
        PitfallKind.PYTHON_NUMBER,
        PitfallKind.TYPE_CHECK,
        PitfallKind.CAUGHT_ERROR,
    }
)


def enrich(failure: ExportFailure, pitfalls: Sequence[Pitfall]) -> ExportFailure:
    """Return the failure with its causes and with how those lines are better written."""
    causes = likely_causes(failure, pitfalls)
    if not causes:
        return failure
    # A file of quantized parts that differs was made: the difference says more.
    differs = failure.reason is Reason.VERIFICATION_FAILED
    quantized = causes[0].kind is PitfallKind.QUANTIZED
    if causes[0].kind in _INSTEAD and not (quantized and differs):
        return _by_its_causes(failure, causes)
    # A failure that is NotDeterministic already names what the model keeps, and how to declare it.
    unlike_itself = _is_unlike_itself(pitfalls) and not isinstance(failure, NotDeterministic)
    enriched = _as_not_deterministic(failure) if unlike_itself else copy.copy(failure)
    enriched.__cause__ = failure.__cause__
    unnamed = causes[0].source and causes[0].source not in failure.sources
    leads = unlike_itself or (failure.reason is Reason.CAPTURE_FAILED and unnamed)
    # It names no line itself.
    nameless = leads or isinstance(failure, VaryingOutputs)
    named = () if nameless else failure.sources
    text = "; ".join(_describe(cause, named) for cause in causes)[:_ROOM]
    message = failure.message[: FAILURE_MESSAGE_LIMIT - len(text) - 20].rstrip(".")
    enriched.pitfalls = tuple(causes)
    enriched.message = f"{text}; {message}" if leads else f"{message}. Cause: {text}"
    suggestions = list(dict.fromkeys(_suggested(cause) for cause in causes))
    # A derivative is made of torch's operators already.
    told_all = unlike_itself or causes[0].kind is PitfallKind.GRADIENT
    general = "" if told_all else failure.hint
    enriched.hint = " ".join([*suggestions, general]).strip()[:FAILURE_HINT_LIMIT]
    enriched.args = (enriched.reason, enriched.message, enriched.hint)
    return enriched


def _by_its_causes(failure: ExportFailure, causes: Sequence[Pitfall]) -> ExportFailure:
    """Return the failure without its own words: what torch met instead of them is by chance."""
    explained = copy.copy(failure)
    explained.__cause__ = failure.__cause__
    explained.pitfalls = tuple(causes)
    explained.message = "; ".join(_describe(cause, ()) for cause in causes)[:FAILURE_MESSAGE_LIMIT]
    explained.hint = " ".join(dict.fromkeys(map(_suggested, causes)))[:FAILURE_HINT_LIMIT]
    explained.args = (explained.reason, explained.message, explained.hint)
    return explained


def likely_causes(failure: ExportFailure, pitfalls: Sequence[Pitfall]) -> list[Pitfall]:
    """Return the pitfalls to blame, most certain first; none where nothing points at one."""
    if failure.reason not in CAUSES:
        return []
    unlike_itself = _is_unlike_itself(pitfalls)
    if CAUSES[failure.reason] is _UNLIKE_ITSELF and not unlike_itself:
        return []
    if unlike_itself:
        pitfalls = [pitfall for pitfall in pitfalls if pitfall.kind in _UNLIKE_ITSELF]
        pitfalls = [pitfall for pitfall in pitfalls if pitfall.source] or pitfalls
    pitfalls = [pitfall for pitfall in pitfalls if pitfall.message not in failure.message]
    instead = [pitfall for pitfall in pitfalls if pitfall.kind in _INSTEAD]
    if instead:
        return instead[:_MOST]
    culprits = _one_a_line([pitfall for pitfall in pitfalls if pitfall.source in failure.sources])
    if culprits:
        return culprits[:_MOST]
    possible = [pitfall for pitfall in pitfalls if pitfall.kind in _kinds(failure)]
    seen = {pitfall.source for pitfall in possible if pitfall.kind in CERTAIN and pitfall.source}
    certain = [pitfall for pitfall in possible if pitfall.source in seen]
    if failure.reason is Reason.DYNAMIC_DIM_SPECIALIZED and failure.sources:
        # torch named the line that fixed the size: other code only looks as if it could.
        return _one_a_line(certain)[:_MOST]
    return _one_a_line(certain or possible)[:_MOST]


def _kinds(failure: ExportFailure) -> frozenset[PitfallKind]:
    if isinstance(failure, VaryingOutputs):
        return _OF_VARYING_OUTPUTS
    return CAUSES[failure.reason]


def _as_not_deterministic(failure: ExportFailure) -> NotDeterministic:
    """Return the failure as one that no other rung can avoid."""
    return NotDeterministic(
        Reason.VERIFICATION_FAILED,
        failure.message,
        failure.hint,
        stage=failure.stage,
        ops=failure.ops,
        sources=failure.sources,
    )


def _is_unlike_itself(pitfalls: Sequence[Pitfall]) -> bool:
    return any(pitfall.kind is PitfallKind.NOT_DETERMINISTIC for pitfall in pitfalls)


def _one_a_line(pitfalls: Sequence[Pitfall]) -> list[Pitfall]:
    """Return one pitfall a line: what the code shows, rather than that a run went wrong there."""
    ordered = sorted(pitfalls, key=lambda pitfall: pitfall.kind in CERTAIN)
    chosen = {pitfall.source: pitfall for pitfall in reversed(ordered)}
    return [chosen[source] for source in dict.fromkeys(_sources(pitfalls))]


def _sources(pitfalls: Sequence[Pitfall]) -> Iterator[str]:
    for pitfall in pitfalls:
        yield pitfall.source


def _describe(cause: Pitfall, named: Sequence[str]) -> str:
    if not cause.source or cause.source in named:
        return cause.message
    return f"{cause.source}: {cause.message}"


def _suggested(cause: Pitfall) -> str:
    return f"{cause.source}: {cause.suggestion}" if cause.source else cause.suggestion
