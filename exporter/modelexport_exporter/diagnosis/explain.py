"""Explains a failure by the model's own lines: for the workers, which have the model at hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.call import BoundInputs, flatten
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.core.errors import ExportFailure, Incurable, VaryingOutputs
from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.accepted.describe import with_accepted_calls
from modelexport_exporter.diagnosis.enrich import CAUSES, enrich
from modelexport_exporter.diagnosis.pitfalls.running import running_pitfalls
from modelexport_exporter.diagnosis.pitfalls.static import static_pitfalls
from modelexport_exporter.diagnosis.varying_outputs import find_varying_outputs

_BY_RUNNING = frozenset({Reason.VERIFICATION_FAILED, Reason.RUNTIME_FAILED})
"""Failures of a graph that was made without an error: running the model shows where it differs."""

_BEFORE_THE_CONTRACT = frozenset(
    {
        Reason.CAPTURE_FAILED,
        Reason.CONVERSION_FAILED,
        Reason.DYNAMIC_DIM_SPECIALIZED,
        Reason.CONTRACT_VIOLATED,
    }
)
"""Failures of a rung after which the number of outputs is not known to be right."""


@contextmanager
def explaining(
    model: torch.nn.Module, bound_inputs: BoundInputs, code_dir: Path | None
) -> Iterator[None]:
    """Add the lines that caused it to a failure of the block."""
    before = ModuleState(model)
    try:
        yield
    except ExportFailure as failure:
        before.restore(model)
        raise explain(failure, model, bound_inputs, code_dir) from failure.__cause__


def explain(
    failure: ExportFailure,
    model: torch.nn.Module,
    bound_inputs: BoundInputs,
    code_dir: Path | None,
) -> ExportFailure:
    """Return the failure with the lines of the model's code that caused it."""
    if failure.refused is not None:
        return with_accepted_calls(failure, failure.refused, model, bound_inputs)
    if failure.reason not in CAUSES:
        return failure
    if failure.reason in _BEFORE_THE_CONTRACT and not isinstance(failure, VaryingOutputs):
        varying = find_varying_outputs(model, bound_inputs)
        if varying is not None:
            varying.sources, varying.stage = failure.sources, failure.stage
            return enrich(varying, find_pitfalls(model, bound_inputs, code_dir, run=False))
        declared, returned = len(bound_inputs.spec.outputs), _returned(model, bound_inputs)
        if returned is not None and returned != declared:
            return _other_number(failure, bound_inputs, returned)
    run = failure.reason in _BY_RUNNING
    pitfalls = find_pitfalls(model, bound_inputs, code_dir, run=run)
    return enrich(failure, pitfalls)


def _returned(model: torch.nn.Module, bound_inputs: BoundInputs) -> int | None:
    """Return how many tensors forward returns; None if the spec names none, or it is not known."""
    spec = bound_inputs.spec
    if not spec.outputs or (spec.model is not None and spec.model.state):
        return None
    args, kwargs = bound_inputs.call.example(bound_inputs.sizes.captured)
    try:
        with torch.no_grad():
            return len(list(flatten(model(*args, **kwargs))))
    except Exception:  # noqa: BLE001 - an explanation never takes the place of the failure
        return None


def _other_number(failure: ExportFailure, bound_inputs: BoundInputs, returned: int) -> Incurable:
    """Return the failure of a spec that names more or fewer outputs than there are on any rung."""
    if failure.reason is Reason.CONTRACT_VIOLATED:
        return Incurable(failure.reason, failure.message, failure.hint, stage=failure.stage)
    names = bound_inputs.spec.outputs
    tensors = "1 tensor" if returned == 1 else f"{returned} tensors"
    return Incurable(
        Reason.CONTRACT_VIOLATED,
        f"outputs: requested {', '.join(names)} ({len(names)}), but forward returns {tensors}",
        "outputs must name every tensor that forward returns, in order; return only those that "
        "you need.",
        stage=failure.stage,
    )


def find_pitfalls(
    model: torch.nn.Module,
    bound_inputs: BoundInputs,
    code_dir: Path | None,
    *,
    run: bool = True,
    not_deterministic: bool = False,
) -> tuple[Pitfall, ...]:
    """Return what the model's code shows, and what shows when it runs twice.

    `run`: whether a trace of it runs elsewhere, too. `not_deterministic`: whether the model was
    seen to answer twice in two ways.

    Never raises: an explanation must not take the place of the failure that it explains.
    """
    found: tuple[Pitfall, ...] = ()
    before = ModuleState(model)  # a copy of it has the same defaults of parameters
    try:
        found += static_pitfalls(model, code_dir)
        lines_known = any(pitfall.kind is PitfallKind.STATE for pitfall in found)
        seen = running_pitfalls(
            model, bound_inputs, code_dir, traced=run, not_deterministic=not_deterministic
        )
        found += tuple(
            pitfall for pitfall in seen if not (lines_known and pitfall.kind is PitfallKind.STATE)
        )
    except Exception:  # noqa: BLE001 - the user's code may define anything
        return found
    finally:
        before.restore(model)
    return found
