"""Capture: from a module to an ExportedProgram that keeps the dims dynamic that were asked for.

One attempt of torch.export, at sizes from `dims`. Guarantees that the program's
dims are checked against the declared ones: torch never narrows a range without an error here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType

import torch
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.spec import Dim, InputKind, ModelExportSpec
from modelexport_exporter.call import BoundInputs, Numbers, register_classes
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.convert.capture_failure import call_eagerly, explain_capture
from modelexport_exporter.convert.fixed_sizes import lines_that_fix_sizes
from modelexport_exporter.convert.program_dims import check_numbers_kept, number_names, symbol_names
from modelexport_exporter.convert.size_choices import choices_as_arithmetic, speak_of_values
from modelexport_exporter.convert.size_expressions import at_all_sizes, values_at
from modelexport_exporter.convert.size_guards import conditions_of, find_size_guards
from modelexport_exporter.convert.wrapped_forward import returning_tensors, wrapped_forward
from modelexport_exporter.core.dims import has_derived_sizes, used_dims
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.foreign_messages import OUTPUT_NOT_FLATTENED
from modelexport_exporter.core.types import SizeGuard
from modelexport_exporter.core.user_frame import UserLine, message_of
from modelexport_exporter.decompositions import capturing_calls
from modelexport_exporter.decompositions.capture.causal_attention import attention_causal_by_size
from modelexport_exporter.decompositions.capture.flexible_attention import (
    attention_of_changed_scores,
)
from modelexport_exporter.decompositions.capture.nms_by_class import nms_by_class_of_any_number
from modelexport_exporter.decompositions.capture.tensors_of_sizes import as_tensor
from modelexport_exporter.sampling.draw import integer_range
from modelexport_exporter.torch_internals.asserted_quotients import quotients_are_asserted
from modelexport_exporter.torch_internals.attention_masks import accept_masks_as_given
from modelexport_exporter.torch_internals.derived_dims import both_bounds_known
from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags
from modelexport_exporter.torch_internals.forced_decisions import ForcedDecisions
from modelexport_exporter.torch_internals.known_conditions import conditions_at_all_sizes
from modelexport_exporter.torch_internals.known_integers import (
    integers_of,
    known_integers,
    note_numbers,
)
from modelexport_exporter.torch_internals.memory_formats import memory_formats_narrow_no_size
from modelexport_exporter.torch_internals.module_conversions import conversions_without_effect
from modelexport_exporter.torch_internals.reshapes import copies_narrow_no_size
from modelexport_exporter.torch_internals.simple_sizes import sizes_in_simple_form
from modelexport_exporter.torch_internals.slice_bounds import slices_of_known_sizes
from modelexport_exporter.torch_internals.symbolic_numbers import sizes_stay_symbolic
from modelexport_exporter.torch_internals.symbolic_sizes import deferred_conditions
from modelexport_exporter.torch_internals.typed_tensors import typed_tensors_of_sizes
from modelexport_exporter.user_code.caches import bypassing_caches, modules_of
from modelexport_exporter.user_code.called_modules import modules_called


def capture(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    code_dir: Path | None,
    *,
    strict: bool = False,
    any_range: bool = False,
    decisions: ForcedDecisions | None = None,
) -> ExportedProgram:
    """Return the module's graph, its weights the module's own.

    `strict`: read the forward pass's bytecode instead of running it as Python. `any_range`: accept
    a program that holds for a part of the declared sizes only. `decisions`: those on values
    are forced, and numbers that forward takes from tensors stay tensors.
    """
    undecided = not strict and decisions is None
    mode = _Mode(strict, any_range, decisions, choices=any_range and undecided)
    for_all = not strict and not any_range
    try:
        program = _captured(module, bound_inputs, code_dir, mode)
    except ExportFailure as failure:
        again: BoundInputs | None = None
        if failure.reason is Reason.DYNAMIC_DIM_SPECIALIZED:
            # The least size often leaves a map of one row, with its own conditions.
            again = _between(bound_inputs) if for_all else None
        elif for_all and undecided and speak_of_values(modules_of(module, code_dir)):
            again = bound_inputs
        if again is not None:
            with suppress(ExportFailure):
                return _captured(module, again, code_dir, replace(mode, choices=True))
        raise
    guards = _guards(program, bound_inputs.spec) if for_all else ()
    if guards:
        taken = list(decisions.taken) if decisions is not None else []
        with suppress(ExportFailure):
            between = _between(bound_inputs)
            whole = _captured(module, between, code_dir, replace(mode, choices=True))
            if len(_guards(whole, bound_inputs.spec)) < len(guards):
                return whole
        if decisions is not None:
            decisions.taken[:] = taken
    return program


def _guards(program: ExportedProgram, spec: ModelExportSpec) -> Sequence[SizeGuard]:
    """Return the conditions of a program that some declared sizes or numbers do not fulfil."""
    numbers = number_names(program, spec)
    names = symbol_names(program, spec) | numbers
    deferred = tuple(deferred_conditions(program))
    ranges = {
        entry.name: integer_range(entry) for entry in spec.inputs if entry.name in numbers.values()
    }
    dims = {name: Dim.model_construct(min=low, max=high) for name, (low, high) in ranges.items()}
    conditions = tuple(conditions_of(program, names, None, deferred))
    return find_size_guards(conditions, spec.model_copy(update={"dims": {**spec.dims, **dims}}))


def _between(bound_inputs: BoundInputs) -> BoundInputs:
    """Return the same at sizes between the least and the largest."""
    sizes = bound_inputs.sizes
    return replace(bound_inputs, sizes=replace(sizes, captured=sizes.between))


@dataclass(frozen=True)
class _Mode:
    strict: bool
    any_range: bool
    decisions: ForcedDecisions | None
    choices: bool = False
    """Whether what the code chooses by sizes is arithmetic, in libraries that forward calls, too.

    This costs a call of the model, and time to read the code.
    """


def _captured(
    module: torch.nn.Module, bound_inputs: BoundInputs, code_dir: Path | None, mode: _Mode
) -> ExportedProgram:
    fixing: list[UserLine] = []
    spec = bound_inputs.spec
    export = partial(_exported, module, bound_inputs, mode)
    modules = modules_of(module, code_dir)
    if mode.choices:
        modules += [own for own in _called(module, bound_inputs) if own not in modules]
    try:
        with lines_that_fix_sizes(code_dir) as fixing, bypassing_caches(module, modules):
            try:
                program = _with_integers(module, partial(export, modules), spec)
            except TypeError:  # such as torch.zeros(3, dtype=int): the type itself is in use
                program = _with_integers(module, partial(export, ()), spec)
    except ExportFailure:
        raise
    except Exception as error:
        unknown = any(sign in message_of(error) for sign in OUTPUT_NOT_FLATTENED)
        if unknown and _returns_new_dataclasses(module, bound_inputs):
            return _captured(module, bound_inputs, code_dir, mode)
        raise explain_capture(error, module, bound_inputs, code_dir, fixing) from error
    check_numbers_kept(program, spec)
    return program


def _called(module: torch.nn.Module, bound_inputs: BoundInputs) -> Sequence[ModuleType]:
    """Return the Python modules whose functions a call of the model runs."""
    before = ModuleState(module)
    found = modules_called(partial(call_eagerly, module, bound_inputs))
    before.restore(module)
    return found


def _with_integers(
    module: torch.nn.Module, export: Callable[[], ExportedProgram], spec: ModelExportSpec
) -> ExportedProgram:
    """Export while the integers that the module keeps are known."""
    integers = integers_of(module)
    if not integers or spec.export.weights.are_inputs:
        return export()
    with known_integers(integers.values()) as read:
        program = export()
    if read.any:
        note_numbers(program)
    return program


def _exported(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    mode: _Mode,
    modules: Sequence[ModuleType],
) -> ExportedProgram:
    """Return the module's graph; `modules`: those whose code computes with symbolic sizes."""
    spec, call = bound_inputs.spec, bound_inputs.call
    args, kwargs = call.example(bound_inputs.sizes.captured, numbers=Numbers.SYMBOLIC)
    with (
        quiet(),
        torch.no_grad(),
        set_onnx_export_flags(dynamic=bool(used_dims(spec.inputs))),
        accept_masks_as_given(),
        conditions_at_all_sizes(at_all_sizes),
        memory_formats_narrow_no_size(),
        conversions_without_effect(),
        copies_narrow_no_size(),
        quotients_are_asserted(),
        slices_of_known_sizes(),
        both_bounds_known() if has_derived_sizes(spec.inputs) else nullcontext(),
        mode.decisions or nullcontext(),
        nullcontext() if mode.strict else _calls_as_captured(module, bound_inputs, mode, modules),
    ):
        return torch.export.export(
            module,
            args,
            kwargs,
            dynamic_shapes=call.dynamic_shapes(module.forward, any_range=mode.any_range),
            strict=mode.strict,
            prefer_deferred_runtime_asserts_over_guards=True,
        )


@contextmanager
def _calls_as_captured(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    mode: _Mode,
    modules: Sequence[ModuleType],
) -> Iterator[None]:
    """Replace what forward calls, as Python runs it, by what torch.export captures."""
    spec = bound_inputs.spec
    has_floats = any(entry.kind is InputKind.FLOAT for entry in spec.inputs)
    with (
        capturing_calls(spec.export.rewrites.disabled),
        typed_tensors_of_sizes(modules, as_tensor),
        attention_causal_by_size(modules),
        nms_by_class_of_any_number(modules),
        attention_of_changed_scores(),
        wrapped_forward(module, returning_tensors),
        choices_as_arithmetic(modules) if mode.choices else nullcontext(),
        sizes_in_simple_form(values_at),
        sizes_stay_symbolic(modules, tensors=mode.decisions is not None or has_floats),
    ):
        yield


def _returns_new_dataclasses(module: torch.nn.Module, bound_inputs: BoundInputs) -> bool:
    """Register the dataclasses that forward returns, so that torch.export can flatten them."""
    return register_classes(call_eagerly(module, bound_inputs))


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress torch's warnings: the verdict shows whether they mattered."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
