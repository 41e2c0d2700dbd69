"""Why torch.export could not capture a model, in one sentence with the user's own line.

A constraint violation is DynamicDimSpecialized. A model that does not even run eagerly on the
declared inputs is InputsMismatch. What runs but cannot be captured is CaptureFailed.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch

from modelexport_api.reasons import Reason
from modelexport_api.sizes import dims_of
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import BoundInputs, flatten
from modelexport_exporter.call.raised_errors import way_out
from modelexport_exporter.checkpoint.state_dict_mismatch import describe_shape
from modelexport_exporter.core.dims import DimSizes
from modelexport_exporter.core.errors import ExportFailure, RefusedCall
from modelexport_exporter.core.foreign_messages import (
    CONFLICTING_RANGES,
    CONSTRAINTS_VIOLATED,
    DECIDED_BY_DATA,
    INNER_WORDS,
    INVALID_RANGES,
    NO_SIZES_LEFT,
)
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.user_frame import (
    UserLine,
    innermost,
    is_own,
    message_of,
    model_line,
    shorten,
    text_of,
    user_frame,
)

_FIX = re.compile(r"^\s*(\w+) = (.+)$", re.MULTILINE)
_FIXED_DIM = re.compile(r"Dim\('\w+'(?:, min=(\d+))?(?:, max=(\d+))?\)")
_FIXED_NUMBER = re.compile(r"inferred a static shape of (-?\d+) for dimension inputs(\S+)")
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)\n\s*(.+)')
_NOISE = re.compile(
    r"^(For (more|extended|C\+\+)|If you suspect|Caused by|The error above|consider using|$)"
)
_SMALLEST_MAX = 2


def explain_capture(
    error: Exception,
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    code_dir: Path | None,
    fixing: Sequence[UserLine] = (),
) -> ExportFailure:
    """Return the failure for an error of torch.export.

    `fixing`: the lines of the model that made a size constant.
    """
    reraise_out_of_memory(error)
    text = message_of(error)
    narrowed = _explain_sizes(text, bound_inputs.spec, fixing)
    if narrowed is not None:
        return narrowed
    refused = run_eagerly(module, bound_inputs)
    if refused is not None:
        return inputs_mismatch(refused, module, bound_inputs, code_dir)
    check_outputs(module, bound_inputs)
    where = _location(error, text, code_dir)
    place = f" at {where}" if where else ""
    sources = (where.source,) if where else ()
    if DECIDED_BY_DATA in text or DECIDED_BY_DATA in message_of(innermost(error)):
        return ExportFailure(
            Reason.CAPTURE_FAILED,
            f"the forward pass decides by the values of a tensor{place}",
            "Use torch.where or torch.cond instead of a Python if or loop over tensor values, "
            "and keep .item() and .tolist() out of forward.",
            sources=sources,
        )
    return ExportFailure(
        Reason.CAPTURE_FAILED,
        f"torch.export cannot capture the forward pass{place}{_said(text)}",
        "Write this line with torch operators only (no numpy, no Python values taken from "
        "tensors).",
        sources=sources,
    )


def _explain_sizes(
    text: str, spec: ModelExportSpec, fixing: Sequence[UserLine]
) -> ExportFailure | None:
    """Return the failure of sizes or numbers that the graph cannot keep open; None for others."""
    if any(sign in text for sign in CONSTRAINTS_VIOLATED):
        return explain_constraints(text, spec, fixing)
    if CONFLICTING_RANGES in text and (fixed := _FIXED_NUMBER.findall(text)):
        return _fixed_numbers(fixed, spec, fixing)
    if NO_SIZES_LEFT in text:
        return _narrowed(fixing)
    sizes = DimSizes.of(spec)
    tiny = [
        name
        for name, high in sizes.highest.items()
        if sizes.is_dynamic(name) and high < _SMALLEST_MAX
    ]
    return _too_small(tiny, spec) if tiny and INVALID_RANGES in text else None


def _fixed_numbers(
    fixed: Sequence[tuple[str, str]], spec: ModelExportSpec, fixing: Sequence[UserLine]
) -> ExportFailure:
    """Return the failure of numbers that are inputs, but constants in the graph.

    `fixed`: the constant and the key path, such as `("2", "['steps']")`.
    """
    ranges = {entry.name: entry.range for entry in spec.inputs}
    problems = []
    for constant, path in fixed:
        name = ".".join(re.findall(r"\w+", path))
        given = ranges.get(name)
        declared = f" of {given[0]:g}..{given[1]:g}" if given else ""
        problems.append(
            f"input {name}: declared as a number{declared}, got the constant {constant}"
        )
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        "; ".join(problems) + _made_constant(fixing),
        "The model decides by this number in Python (an if, a list of its length). Use torch.where "
        "or torch.cond in forward, or declare the number with kind: Constant.",
        sources=tuple(line.source for line in fixing[:3]),
    )


def _made_constant(fixing: Sequence[UserLine]) -> str:
    return f". Made constant at {'; '.join(map(str, fixing[:3]))}" if fixing else ""


def _narrowed(fixing: Sequence[UserLine]) -> ExportFailure:
    """Return the failure of a graph whose sizes torch.export cannot even state."""
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        "the model decides by a size: the graph of one side does not hold for all declared sizes"
        + (f". Decided at {'; '.join(map(str, fixing[:3]))}" if fixing else ""),
        _dims_hint(()),
        sources=tuple(line.source for line in fixing[:3]),
    )


def _too_small(names: list[str], spec: ModelExportSpec) -> ExportFailure:
    """Return the failure of dims of 0 and 1 only: torch.export gives sizes from 2 on a symbol."""
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        "; ".join(
            f"{dim_label(name, spec)}: requested {requested_range(name, spec)}, which torch.export "
            "cannot keep dynamic"
            for name in names
        ),
        "Set max to 2 or more, or declare a constant size.",
    )


def call_eagerly(module: torch.nn.Module, bound_inputs: BoundInputs) -> object:
    """Return what the module returns at the sizes of the capture; raises what it raises."""
    args, kwargs = bound_inputs.call.example(bound_inputs.sizes.captured)
    with torch.no_grad():
        returned: object = module(*args, **kwargs)
    return returned


def run_eagerly(module: torch.nn.Module, bound_inputs: BoundInputs) -> Exception | None:
    """Return the exception of an eager call, or None."""
    try:
        call_eagerly(module, bound_inputs)
    except Exception as error:  # noqa: BLE001 - forward is the user's code
        reraise_out_of_memory(error)
        return error
    return None


def check_outputs(module: torch.nn.Module, bound_inputs: BoundInputs) -> None:
    """Raise Incurable if forward returns something that a file cannot return."""
    deque(flatten(call_eagerly(module, bound_inputs)), maxlen=0)


def inputs_mismatch(
    error: Exception, module: torch.nn.Module, bound_inputs: BoundInputs, code_dir: Path | None
) -> ExportFailure:
    """Return the failure of a model that cannot be called with the declared inputs."""
    call = bound_inputs.call
    values = call.example_values(bound_inputs.sizes.captured)
    given = ", ".join(f"{name}: {describe_shape(tensor)}" for name, tensor in values.items())
    frame = user_frame(error, code_dir)
    message = text_of(error)[:600]
    failure = ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"the model cannot be called with the declared inputs ({given}): "
        f"{type(error).__name__}: {message}" + (f" ({frame})" if frame else ""),
        way_out(
            error,
            "inputs must list every tensor that forward needs, in its order or by the names of its "
            "parameters, with the dtype, shape and range that it expects; dims that depend on each "
            "other share one name, or are an expression such as n - 1 or past + n.",
        ),
    )

    def call_with(others: Mapping[str, torch.Tensor]) -> object:
        args, kwargs = call.arguments(others)
        return module(*args, **kwargs)

    failure.refused = RefusedCall(values, call_with)
    return failure


def explain_constraints(
    text: str, spec: ModelExportSpec, fixing: Sequence[UserLine] = ()
) -> ExportFailure:
    """Return the failure of dims that the model makes constant or narrows."""
    _, _, suggested = text.partition("Suggested fixes:")
    fixes = [(name, fix) for name, fix in _FIX.findall(suggested) if name.lstrip("_") in spec.dims]
    problems = [_describe_fix(name.lstrip("_"), fix, spec) for name, fix in fixes]
    if not problems:
        problems = [line.strip(" -") for line in text.splitlines() if line.startswith("  - ")][:3]
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        ("; ".join(problems) or " ".join(text.split())[:600]) + _made_constant(fixing),
        _dims_hint(fixes),
        sources=tuple(line.source for line in fixing[:3]),
    )


def dim_label(name: str, spec: ModelExportSpec) -> str:
    """Return `input x dim 0 (batch)` for the first place where the dim is used."""
    for entry in spec.inputs:
        for axis, size in enumerate(entry.shape):
            if name in dims_of(size):
                return f"input {entry.name} dim {axis} ({size})"
    return f"dim {name}"


def requested_range(name: str, spec: ModelExportSpec) -> str:
    """Return `1..64`."""
    return DimSizes.of(spec).range_of(name)


def _describe_fix(name: str, fix: str, spec: ModelExportSpec) -> str:
    fix = fix.strip()
    narrower = _FIXED_DIM.fullmatch(fix)
    if narrower is not None:
        sizes = DimSizes.of(spec)
        low = narrower.group(1) or sizes.lowest[name]
        fix = f"{low}..{narrower.group(2) or sizes.highest[name]}"
    elif fix in spec.dims:
        return (
            f"{dim_label(name, spec)}: requested {requested_range(name, spec)}, but in this model "
            f"it always equals {fix}"
        )
    return f"{dim_label(name, spec)}: requested {requested_range(name, spec)}, got {fix}"


def _dims_hint(fixes: Iterable[tuple[str, str]]) -> str:
    if any(fix.strip().isdigit() for _, fix in fixes):
        return (
            "The model bakes this size in (a reshape with a number, a loop over the size). Take "
            "the size from the tensor's shape in forward, or declare the constant in inputs."
        )
    return (
        "Declare in dims only the sizes that the model accepts: narrow min and max, or give dims "
        "that are always equal one name."
    )


def _location(error: Exception, text: str, code_dir: Path | None) -> UserLine | None:
    """Return the user's line: the one torch names in its message, else the traceback's."""
    # What computes with symbolic numbers in the place of Python's own is no line of the user's.
    frames = [frame for frame in _FRAME.findall(text) if not is_own(frame[0])]
    if frames:
        filename, line, function, source = frames[-1]
        return UserLine(f"{shorten(filename, code_dir)}:{line}", function, source.strip())
    return model_line(error, code_dir)


def _said(text: str) -> str:
    """Return what torch says of the model in its first lines, after a colon."""
    lines = [line.strip() for line in text.splitlines() if not _NOISE.match(line)]
    said = " ".join(INNER_WORDS.sub("", " ".join(lines[:2])).split())[:500].strip(" .")
    return f": {said}" if said else ""
