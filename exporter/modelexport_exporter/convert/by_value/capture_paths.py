"""Captures a model once for each path through its branches on values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import torch
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_exporter.call import BoundInputs
from modelexport_exporter.convert.branches import SeveralGraphs
from modelexport_exporter.convert.by_value.join_paths import Path, joined
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.dynamo import Translation, finish, rename_dims, translate
from modelexport_exporter.convert.fixed_sizes import running_line
from modelexport_exporter.convert.size_guards import find_size_guards
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.user_frame import UserLine
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.torch_internals.forced_decisions import ForcedDecisions

MOST_PATHS = 16
MOST_DECISIONS = 24
"""Of one path: a loop whose end depends on values has no last one."""


@dataclass(frozen=True)
class _Subject:
    module: torch.nn.Module
    bound_inputs: BoundInputs
    plugins: Plugins
    code_dir: FilePath | None


def model_by_value(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    plugins: Plugins,
    code_dir: FilePath | None,
    *,
    optimize: bool,
    progress: Callable[[str], None],
) -> SeveralGraphs:
    """Return a model that takes the sides that forward takes. Raises ExportFailure."""
    subject = _Subject(module, bound_inputs, plugins, code_dir)
    paths: list[Path] = []
    translations: list[Translation] = []
    lines: list[UserLine] = []
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        sides = waiting.pop()
        if len(paths) == MOST_PATHS:
            raise _too_many(lines)
        progress(f"capturing path {len(paths) + 1} through the branches on values")
        program, taken = _captured(subject, sides, lines)
        if not taken:
            raise _nothing_decided()
        translation = translate(program, bound_inputs.spec, plugins, code_dir)
        rename_dims(translation.model, translation.names)
        translations.append(translation)
        paths.append(Path(taken, translation.model))
        waiting += [(*taken[:place], not taken[place]) for place in range(len(sides), len(taken))]
    conditions = [condition for own in translations for condition in own.conditions]
    try:
        whole = replace(translations[0], model=joined(paths), names={})
    except ValueError as error:
        raise _not_joined(lines, error) from error
    guards = find_size_guards(conditions, bound_inputs.spec)
    return SeveralGraphs(finish(whole, optimize=optimize), guards)


def _captured(
    subject: _Subject, sides: tuple[bool, ...], lines: list[UserLine]
) -> tuple[ExportedProgram, tuple[bool, ...]]:
    """Return the graph of the path that begins with these sides, and all of its sides."""

    def on_decision() -> None:
        line = running_line(subject.code_dir)
        if line is not None and line not in lines:
            lines.append(line)
        if len(decisions.taken) == MOST_DECISIONS:
            raise _too_many(lines)

    decisions = ForcedDecisions(sides, on_decision)
    with _conditions_returned(subject.module, decisions), decisions:
        program = capture(
            subject.module, subject.bound_inputs, subject.code_dir, tensor_numbers=True
        )
    return program, tuple(decisions.taken)


@contextmanager
def _conditions_returned(module: torch.nn.Module, decisions: ForcedDecisions) -> Iterator[None]:
    """Let forward return its conditions after its outputs, while the block runs."""
    plain = module.forward

    @functools.wraps(plain)
    def forward(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the user's function
        decisions.begin()
        outputs = plain(*args, **kwargs)
        return outputs, tuple(decisions.conditions)

    own = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if own is None:
            del module.forward
        else:
            module.forward = own


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
