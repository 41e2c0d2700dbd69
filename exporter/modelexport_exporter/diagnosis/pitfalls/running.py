"""Pitfalls that are seen when the model runs: twice at the same inputs, and as a trace elsewhere.

Nothing here raises for what the model does: a model that cannot be run is somebody else's finding.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.call import BoundInputs, Numbers
from modelexport_exporter.call.call import Arguments
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.core.dims import describe_sizes
from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.core.user_frame import is_users, last_line_of, shorten
from modelexport_exporter.diagnosis.caught_errors import CaughtErrors
from modelexport_exporter.diagnosis.pitfalls.random_draws import Outputs, find_draws
from modelexport_exporter.diagnosis.pitfalls.uninitialised import find_uninitialised
from modelexport_exporter.diagnosis.tracing import Flattened, trace
from modelexport_exporter.torch_internals import pytree
from modelexport_exporter.torch_internals.torchscript_graph import TracerWarning

_RTOL, _ATOL = 1e-3, 1e-4
_MOST_LINES = 8
LARGEST_BYTES = 512 << 20
"""Models up to this size are copied and run."""
_READS_SOMETHING_ELSE = Pitfall(
    PitfallKind.NOT_DETERMINISTIC,
    "two calls of forward with the same inputs return different outputs: it reads something "
    "besides its inputs",
    "",
    "Look for a clock, random numbers of Python or NumPy, a counter, or a list outside of the "
    "module, and make it an input of forward.",
)


def running_pitfalls(
    model: torch.nn.Module,
    bound_inputs: BoundInputs,
    code_dir: Path | None,
    *,
    traced: bool = True,
    not_deterministic: bool = False,
) -> tuple[Pitfall, ...]:
    """Return what two runs and a trace show; the model itself stays as it is.

    `traced`: whether to trace it. `not_deterministic`: whether the model was seen to answer twice
    in two ways.
    """
    if isinstance(model, torch.jit.ScriptModule | torch.fx.GraphModule) or _is_large(model):
        return ()
    try:
        twice = tuple(_run_twice(copy.deepcopy(model), bound_inputs, code_dir))
    except Exception:  # noqa: BLE001 - forward is the user's code
        return ()
    if not twice and not_deterministic:
        twice = _of_something_else(model, bound_inputs, code_dir)
    if twice:
        return twice  # a trace cannot agree with what does not agree with itself
    if not traced:
        return ()
    try:
        return tuple(_trace_elsewhere(copy.deepcopy(model), bound_inputs, code_dir))
    except Exception:  # noqa: BLE001
        return ()


def _is_large(model: torch.nn.Module) -> bool:
    """Return whether copies of the model, which a run may change, would cost too much."""
    tensors = [*model.parameters(), *model.buffers()]
    return sum(tensor.nbytes for tensor in tensors) > LARGEST_BYTES


def _run_twice(
    model: torch.nn.Module, bound_inputs: BoundInputs, code_dir: Path | None
) -> Iterator[Pitfall]:
    # Once: the user's sampler, too, draws random numbers.
    example = bound_inputs.call.example(bound_inputs.sizes.captured)

    def run() -> Outputs:
        return _run(model, copy.deepcopy(example))

    before, weights = ModuleState(model), copy.deepcopy(dict(model.named_parameters()))
    first = run()
    changed = before.changed(model) or _written(model, weights)
    if changed and _remembers(model, before, bound_inputs):
        yield Pitfall(
            PitfallKind.NOT_DETERMINISTIC,
            f"the model remembers its earlier calls: forward changes its {changed[0]}, and returns "
            "other outputs for the same inputs after another call",
            "",
            "Take what it keeps as an input of forward, and return its new value.",
        )
    own = bound_inputs.spec.model
    trains = own is not None and own.training
    draws: tuple[Pitfall, ...] = ()
    if not changed or (not trains and all(_follows_mode(path, model) for path in changed)):
        draws = tuple(find_draws(model, run, _agree, code_dir, trains=trains))
    yield from draws
    for path in () if draws else changed[:_MOST_LINES]:
        yield Pitfall(
            PitfallKind.STATE,
            f"one run of the model changes its {path}: a file has no memory between runs",
            path,
            "Take it as an input of forward and return its new value.",
        )
    if not changed and not draws and not _agree(first, run()):
        yield from _of_something_else(model, bound_inputs, code_dir)


def _follows_mode(path: str, model: torch.nn.Module) -> bool:
    """Return whether a change is a mode, or of a part that is in train mode: running means."""
    owner, _, own = path.partition(" ")[2].rpartition(".")
    parts = dict(model.named_modules())
    return own == "training" or (owner in parts and parts[owner].training)


def _of_something_else(
    model: torch.nn.Module, bound_inputs: BoundInputs, code_dir: Path | None
) -> tuple[Pitfall, ...]:
    try:
        example = bound_inputs.call.example(bound_inputs.sizes.captured)
        call = partial(_run, copy.deepcopy(model))
        unwritten = tuple(find_uninitialised(call, example, _agree, code_dir))
    except Exception:  # noqa: BLE001 - other contents may be no index
        unwritten = ()
    return unwritten or (_READS_SOMETHING_ELSE,)


def _written(model: torch.nn.Module, before: Mapping[str, torch.Tensor]) -> list[str]:
    """Return the parameters that have other values: writes into `.data` are not counted."""
    return [
        f"parameter {name}"
        for name, own in model.named_parameters()
        if name in before and not torch.equal(own, before[name])
    ]


def _remembers(model: torch.nn.Module, before: ModuleState, bound_inputs: BoundInputs) -> bool:
    def run(seed: int) -> Outputs:
        example = bound_inputs.call.example(bound_inputs.sizes.captured, seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)  # random numbers are no memory
            return _run(model, example)

    before.restore(model)
    alone = run(1)
    before.restore(model)
    run(0)
    return not _agree(alone, run(1))


def _run(model: torch.nn.Module, arguments: Arguments) -> Outputs:
    args, kwargs = arguments
    with torch.no_grad():
        return pytree.tensors_in(model(*args, **kwargs))


def _agree(one: Outputs, other: Outputs) -> bool:
    return len(one) == len(other) and all(
        a.shape == b.shape
        and torch.allclose(a.double(), b.double(), rtol=_RTOL, atol=_ATOL, equal_nan=True)
        for a, b in zip(one, other, strict=True)
        if not (a.is_complex() or b.is_complex())
    )


def _find_caught(
    model: torch.nn.Module, bound_inputs: BoundInputs, code_dir: Path | None
) -> Pitfall | None:
    """Return the first error of an operator that forward catches, at some sizes and values."""
    for sizes, seed in ((bound_inputs.sizes.captured, 0), *_elsewhere(bound_inputs)):
        example = bound_inputs.call.example(sizes, seed, Numbers.TENSORS)
        with suppress(Exception), CaughtErrors(code_dir) as errors:
            _run(model, example)
            if errors.first is not None:
                line = errors.first.line
                return Pitfall(
                    PitfallKind.BAKED,
                    f"at {describe_sizes(sizes)} (seed {seed}) an operator raises "
                    f"{errors.first.error}, which forward catches: a file has no exceptions",
                    line.source if line else "",
                    "Test the values instead of catching the error, and choose by torch.where.",
                )
    return None


def _elsewhere(bound_inputs: BoundInputs) -> list[tuple[Mapping[str, int], int]]:
    """Return sizes and seeds at which a trace is compared with the model."""
    sizes = bound_inputs.sizes
    return [(sizes.captured, 1), (sizes.between, 2), (sizes.lowest, 3)]


def _trace_elsewhere(
    model: torch.nn.Module, bound_inputs: BoundInputs, code_dir: Path | None
) -> Iterator[Pitfall]:
    """Yield the lines that a trace warns of, if it then differs at other sizes or values.

    Or the line of an error that forward catches: such a model must not be traced.
    """
    error = _find_caught(model, bound_inputs, code_dir)
    if error is not None:
        yield error
        return
    sizes, call = bound_inputs.sizes, bound_inputs.call
    args, kwargs = call.example(sizes.captured, numbers=Numbers.TENSORS)
    flattened = Flattened(model, args, kwargs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        traced = trace(flattened)
    for where, seed in _elsewhere(bound_inputs):
        problem = _disagreement(traced, flattened, bound_inputs, where, seed)
        if problem:
            place = f"{describe_sizes(where)}, other values" if where else "other values"
            yield from _blamed(caught, f"{problem} at {place}", code_dir)
            return


def _disagreement(
    traced: Callable[..., Any],
    eager: Flattened,
    bound_inputs: BoundInputs,
    sizes: Mapping[str, int],
    seed: int,
) -> str:
    args, kwargs = bound_inputs.call.example(sizes, seed, numbers=Numbers.TENSORS)
    tensors = Flattened(eager, args, kwargs).tensors
    with torch.no_grad():
        expected = pytree.tensors_in(eager(*[tensor.clone() for tensor in tensors]))
        try:
            got = pytree.tensors_in(traced(*tensors))
        except Exception as error:  # noqa: BLE001 - TorchScript raises what it likes
            return f"the graph of the capture fails ({last_line_of(error)[:160]})"
    return "" if _agree(expected, got) else "the graph of the capture gives other outputs"


def _blamed(
    caught: list[warnings.WarningMessage], problem: str, code_dir: Path | None
) -> Iterator[Pitfall]:
    lines = {
        f"{shorten(warning.filename, code_dir)}:{warning.lineno}": str(warning.message)
        for warning in caught
        if issubclass(warning.category, TracerWarning) and is_users(warning.filename, code_dir)
    }
    suggestion = (
        "Keep to tensors from the inputs to the outputs: no Python numbers, branches or loops "
        "taken from them."
    )
    for line, text in list(lines.items())[:_MOST_LINES]:
        what = " ".join(text.partition(".")[0].split())[:160]
        yield Pitfall(PitfallKind.BAKED, f"{problem}; {what}", line, suggestion)
    if not lines:
        yield Pitfall(PitfallKind.BAKED, problem, "", suggestion)
