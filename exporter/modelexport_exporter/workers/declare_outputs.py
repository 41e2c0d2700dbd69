"""Makes the declared shapes of a verified file those that its runs returned.

A size that a converter did not know gets the inputs' name for it: the file is written again with
other types of its outputs, loaded, and run once more. A false size decides what a runtime folds,
so the file is written without it, and verified again as a whole. A file that exists already is not
changed: a false number of its own is refused, a false name is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from modelexport_api.reasons import Reason
from modelexport_api.spec import Mode
from modelexport_api.status import Stage
from modelexport_exporter.core.dims import ANY_RANK, is_dynamic
from modelexport_exporter.core.errors import ExportFailure, Incurable
from modelexport_exporter.core.machine import free_memory
from modelexport_exporter.core.types import ContractFinding, ConvertedModel, ExportTask, WrittenFile
from modelexport_exporter.onnx_file.checker import checker_error
from modelexport_exporter.onnx_file.output_shapes import write_with_shapes
from modelexport_exporter.verification.runtime.opened import OpenedFile
from modelexport_exporter.verification.shapes.declared import (
    Contradiction,
    Declared,
    contradictions,
    true_shapes,
)
from modelexport_exporter.verification.shapes.observed import Named, ObservedShapes, RunFile

Open = Callable[[Path], tuple[OpenedFile, RunFile]]
MEMORY_FACTOR = 3
"""A second session of a file takes at most so many times the file's size."""


@dataclass(frozen=True)
class Redeclared:
    """A file with true shapes."""

    converted: ConvertedModel
    session_shapes: Mapping[str, Declared]
    verify_again: bool = False
    """Whether the runtime may compute something else with it than with the file before."""


def redeclare(
    task: ExportTask,
    converted: ConvertedModel,
    stated: Mapping[str, Declared],
    observed: ObservedShapes,
    opened: Open,
) -> Redeclared:
    """Return the file with the shapes that its runs returned. Raises ExportFailure.

    `stated`: the shapes of outputs as the session infers them. `opened`: loads a file.
    """
    sources = _sources(converted, stated)
    false = [found for source in sources for found in contradictions(source, observed.runs)]
    asked = _asked(task, observed)
    if task.spec.mode is Mode.VERIFY:
        return Redeclared(_with_findings(converted, false), stated)
    dims = [name for name, dim in task.spec.dims.items() if is_dynamic(dim)]
    wanted = _changes(converted, true_shapes([asked, *sources], observed.runs, dims))
    if not wanted and not false:
        return Redeclared(converted, stated)
    path = converted.model_path
    candidate = path.with_name(f"declared-{path.name}")
    try:
        file = write_with_shapes(path, candidate, wanted, forget_inner=bool(false))
        changed = _described(converted, file, wanted)
        shapes = stated if false else _shapes_of_same(candidate, changed, observed, opened)
        if shapes is None:
            return Redeclared(_with_other_shapes(converted, asked), stated)
        candidate.replace(path)  # sessions keep the file before
        return Redeclared(changed, shapes, verify_again=bool(false))
    finally:
        candidate.unlink(missing_ok=True)


def _asked(task: ExportTask, observed: ObservedShapes) -> dict[str, Declared]:
    """Return the shapes of the spec. Raises ExportFailure if a run returned another one."""
    asked: dict[str, Declared] = {
        name: tuple(shape) for name, shape in task.spec.output_shapes.items()
    }
    for found in contradictions(asked, observed.runs):
        raise Incurable(
            Reason.CONTRACT_VIOLATED,
            f"spec.outputShapes declares a shape that the model does not return: {found}",
            "Correct the shape, or remove the entry: the exporter then declares what it finds. "
            "A name that is not in dims stands for a size that depends on values.",
            stage=Stage.VERIFY,
        )
    return asked


def _with_other_shapes(converted: ConvertedModel, asked: Mapping[str, Declared]) -> ConvertedModel:
    """Return the description of a file that could not be written again, with findings."""
    findings = tuple(
        ContractFinding(f"output {tensor.name}", _text(asked[tensor.name]), _text(tensor.shape))
        for tensor in converted.outputs
        if tensor.name in asked and tuple(tensor.shape) != asked[tensor.name]
    )
    return replace(converted, findings=(*converted.findings, *findings))


def _text(shape: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def check_true(
    converted: ConvertedModel, stated: Mapping[str, Declared], observed: ObservedShapes
) -> None:
    """Raise ExportFailure if a file that was declared anew returns another shape."""
    for source in _sources(converted, stated):
        for found in contradictions(source, observed.runs):
            raise _false(found)


def _sources(
    converted: ConvertedModel, stated: Mapping[str, Declared]
) -> list[dict[str, Declared]]:
    """Return the known shapes of outputs: as the file declares them, and as the session does."""
    declared: dict[str, Declared] = {
        tensor.name: tuple(tensor.shape) for tensor in converted.outputs
    }
    unknown = {name for name, shape in declared.items() if shape == (ANY_RANK,)}
    return [
        {name: shape for name, shape in declared.items() if name not in unknown},
        # A session states () for what it does not know.
        {name: shape for name, shape in stated.items() if shape or name not in unknown},
    ]


def _changes(
    converted: ConvertedModel, true: Mapping[str, Declared | None]
) -> dict[str, Declared | None]:
    """Return the shapes of those outputs for which the file declares another one."""
    return {
        tensor.name: true[tensor.name]
        for tensor in converted.outputs
        if tensor.name in true and tensor.shape != _listed(true[tensor.name])
    }


def _described(
    converted: ConvertedModel, file: WrittenFile, shapes: Mapping[str, Declared | None]
) -> ConvertedModel:
    files = tuple(file if entry.name == file.name else entry for entry in converted.files)
    outputs = tuple(
        tensor.model_copy(update={"shape": _listed(shapes[tensor.name])})
        if tensor.name in shapes
        else tensor
        for tensor in converted.outputs
    )
    return replace(converted, files=files, outputs=outputs)


def _listed(shape: Declared | None) -> list[int | str]:
    return [ANY_RANK] if shape is None else list(shape)


def _shapes_of_same(
    candidate: Path, described: ConvertedModel, observed: ObservedShapes, opened: Open
) -> Mapping[str, Declared] | None:
    """Return the shapes that a session of the candidate states; None if it is not as before."""
    memory, size = free_memory(), sum(file.size_bytes for file in described.files)
    if observed.smallest is None or (memory is not None and memory < MEMORY_FACTOR * size):
        return None
    if checker_error(candidate):
        return None
    arrays, before = observed.smallest
    try:
        session, run_file = opened(candidate)
        same = _equal(before, run_file(arrays, "the smallest sample"))
    except ExportFailure:
        return None
    false = [
        found
        for source in _sources(described, session.output_shapes)
        for found in contradictions(source, observed.runs)
    ]
    return session.output_shapes if same and not false else None


def _equal(before: Named, after: Named) -> bool:
    return len(before) == len(after) and all(
        name == other and _same_bits(array, found)
        for (name, array), (other, found) in zip(before, after, strict=True)
    )


def _same_bits(one: object, other: object) -> bool:
    first, second = np.asarray(one), np.asarray(other)
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    return first.tobytes() == second.tobytes()


def _with_findings(converted: ConvertedModel, false: list[Contradiction]) -> ConvertedModel:
    """Return the description of an existing file, with its false names as findings."""
    findings: dict[str, ContractFinding] = {}
    for found in false:
        if found.axis is None or found.declared.lstrip("-").isdigit():
            raise _false(found)
        subject = f"output {found.output} dim {found.axis}"
        findings[subject] = ContractFinding(subject, found.declared, found.obtained_where)
    return replace(converted, findings=(*converted.findings, *findings.values()))


def _false(found: Contradiction) -> ExportFailure:
    return ExportFailure(
        Reason.CONTRACT_VIOLATED,
        f"the file declares a shape that it does not return: {found}",
        "A consumer that reads the shape from the file computes something else. Return tensors of "
        "the declared shape.",
        stage=Stage.VERIFY,
    )
