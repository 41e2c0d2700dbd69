"""Captures a model once for each path through its branches on values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_exporter.call.call import Call
from modelexport_exporter.convert.branches import ModelToCapture, PartialGraph, SeveralGraphs
from modelexport_exporter.convert.by_size.capture_pieces import (
    Captured,
    captured_at,
    captured_for_all,
    model_by_size,
    translated,
)
from modelexport_exporter.convert.by_value.chosen_numbers import with_chosen_numbers, with_numbers
from modelexport_exporter.convert.by_value.join_paths import Path, joined
from modelexport_exporter.convert.dynamo import rename_dims
from modelexport_exporter.convert.wrapped_forward import wrapped_forward
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.user_frame import UserLine, running_model_line
from modelexport_exporter.torch_internals.forced_decisions import ForcedDecisions

MOST_PATHS = 16
MOST_PIECES = 4
"""Parts of the sizes, each with all of its paths."""
MOST_DECISIONS = 24
"""Of one path: a loop whose end depends on values has no last one."""


def model_by_value(
    subject: ModelToCapture, *, optimize: bool, progress: Callable[[str], None]
) -> SeveralGraphs:
    """Return a model that takes the sides that forward takes. Raises ExportFailure.

    Where they depend on sizes, too, the file has such a graph for each part of the sizes. Where
    forward needs the number itself (`range(n)`), an Int of few values has a path for each.
    """
    by_size = partial(
        model_by_size,
        optimize=optimize,
        progress=progress,
        graph=partial(_graph_of_paths, progress=progress),
        most=MOST_PIECES,
    )
    first: ExportFailure | None = None
    for model in (subject, *with_chosen_numbers(subject)):
        try:
            return by_size(model)
        except ExportFailure as failure:
            first = first or failure
            import traceback

            traceback.print_exc()
    assert first is not None
    raise first


@dataclass(frozen=True)
class _CapturedPath:
    taken: tuple[bool, ...]
    captured: Captured


def _graph_of_paths(subject: ModelToCapture, progress: Callable[[str], None]) -> PartialGraph:
    """Return one graph of all paths, and the sizes for which each path's graph holds."""
    lines: list[UserLine] = []
    captured = _captured_paths(subject, lines, progress)
    parts: list[PartialGraph] = []
    paths: list[Path] = []
    for number, path in enumerate(captured, start=1):
        progress(f"translating path {number} of {len(captured)}")
        part = _translated(subject, path, lines)
        rename_dims(part.translation.model, part.translation.names)
        parts.append(part)
        paths.append(Path(path.taken, part.translation.model))
    try:
        whole = replace(parts[0].translation, model=joined(paths), names={})
    except ValueError as error:
        raise _not_joined(lines, error) from error
    return PartialGraph(whole, tuple(text for part in parts for text in part.conditions))


def _captured_paths(
    subject: ModelToCapture, lines: list[UserLine], progress: Callable[[str], None]
) -> list[_CapturedPath]:
    """Return the program of each path. All are captured before the first one is translated."""
    paths: list[_CapturedPath] = []
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        sides = waiting.pop()
        if len(paths) == MOST_PATHS:
            raise _too_many(lines)
        progress(f"capturing path {len(paths) + 1} through the branches on values")
        try:
            path = _captured(subject, sides, lines, captured_for_all)
        except ExportFailure as failure:
            if failure.reason is not Reason.DYNAMIC_DIM_SPECIALIZED:
                raise
            path = _captured(subject, sides, lines, captured_at)
        if not path.taken:
            raise _nothing_decided()
        paths.append(path)
        waiting += [
            (*path.taken[:place], not path.taken[place])
            for place in range(len(sides), len(path.taken))
        ]
    return paths


def _translated(
    subject: ModelToCapture, path: _CapturedPath, lines: list[UserLine]
) -> PartialGraph:
    """Return the graph of a path; of one that does not hold for all sizes, that of a part."""
    try:
        return translated(subject, path.captured)
    except ExportFailure as failure:
        if failure.reason is not Reason.DYNAMIC_DIM_SPECIALIZED or path.captured.part is not None:
            raise
    return translated(subject, _captured(subject, path.taken, lines, captured_at).captured)


def _captured(
    subject: ModelToCapture,
    sides: tuple[bool, ...],
    lines: list[UserLine],
    capture: Callable[[ModelToCapture, ForcedDecisions], Captured],
) -> _CapturedPath:
    """Return the program of the path that begins with these sides, and all of its sides."""

    def on_decision() -> None:
        line = running_model_line(subject.code_dir)
        if line is not None and line not in lines:
            lines.append(line)
        if len(decisions.taken) == MOST_DECISIONS:
            raise _too_many(lines)

    decisions = ForcedDecisions(sides, on_decision)
    wrap = partial(_returning_conditions, subject.bound_inputs.call, decisions)
    with wrapped_forward(subject.module, wrap):
        captured = capture(subject, decisions)
    return _CapturedPath(tuple(decisions.taken), captured)


def _returning_conditions(
    call: Call, decisions: ForcedDecisions, plain: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function that returns forward's conditions after its outputs."""

    def forward(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the user's function
        decisions.begin()
        args, kwargs = with_numbers(call, decisions, args, kwargs)
        outputs = plain(*args, **kwargs)
        return outputs, tuple(decisions.conditions)

    return forward


def _nothing_decided() -> ExportFailure:
    return ExportFailure(
        Reason.CAPTURE_FAILED,
        "forward has no branch on the values of tensors",
        "See what the other routes report.",
    )


def _at(lines: list[UserLine]) -> str:
    return "; ".join(map(str, lines[:3]))


def _too_many(lines: list[UserLine]) -> ExportFailure:
    return ExportFailure(
        Reason.CAPTURE_FAILED,
        f"forward has more than {MOST_PATHS} paths through its branches on values, or one of more "
        f"than {MOST_DECISIONS} decisions: {_at(lines)}",
        "Use torch.where instead of an if on values, and write loops whose end depends on values "
        "so that torch.jit.script compiles them.",
        sources=tuple(line.source for line in lines[:3]),
    )


def _not_joined(lines: list[UserLine], error: Exception) -> ExportFailure:
    return ExportFailure(
        Reason.CAPTURE_FAILED,
        f"forward decides by values at {_at(lines)}: {error}",
        "Return the same number of outputs, of the same types and ranks, on all sides.",
        sources=tuple(line.source for line in lines[:3]),
    )
