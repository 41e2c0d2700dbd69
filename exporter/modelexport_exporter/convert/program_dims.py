"""The dims of an ExportedProgram against the declared ones.

Guarantees that a declared dim which the program makes constant, ties to another or narrows fails
as DynamicDimSpecialized, for programs captured here and for checkpoints that are programs; maps
the program's symbols to the declared names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument
from torch.export.graph_signature import InputKind as InputOfProgram

from modelexport_api.reasons import Reason
from modelexport_api.sizes import DimExpression, is_same_size
from modelexport_api.spec import Input, InputKind, ModelExportSpec
from modelexport_exporter.call.tensors import TORCH_DTYPES
from modelexport_exporter.checkpoint.bind_weights import describe_dtype
from modelexport_exporter.core.dims import dynamic_size, range_of
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.torch_internals.symbolic_sizes import rename_size, size_expression


@dataclass(frozen=True)
class SizeInProgram:
    """One declared size and the program's."""

    entry: Input
    axis: int
    declared: int | str
    obtained: int | torch.SymInt


def symbol_names(program: ExportedProgram, spec: ModelExportSpec) -> dict[str, str]:
    """Check all dims, and return what each of the program's symbols is: `n`, or `n - 1`.

    Of sizes `n` and `n - 1` torch.export takes one for a symbol, and writes the other with it.
    """
    names: dict[str, str] = {}
    sums: list[tuple[SizeInProgram, DimExpression]] = []
    for size in sizes_in_program(program, spec):
        declared = dynamic_size(size.declared, spec.dims)
        if isinstance(declared, int):
            _check_constant(size, declared)
        elif declared.is_sum:
            sums.append((size, declared))
        else:
            _add_name(names, size, declared, program, spec)
    for size, declared in sums:
        if not _is_sum_of(names, size, declared):
            _add_name(names, size, declared, program, spec)
    return names


def _is_sum_of(names: Mapping[str, str], size: SizeInProgram, declared: DimExpression) -> bool:
    """Return whether the program itself has the size as the sum of its dims."""
    if not isinstance(size.obtained, torch.SymInt):
        return False
    return is_same_size(rename_size(size_expression(size.obtained), names), str(declared))


def _add_name(
    names: dict[str, str],
    size: SizeInProgram,
    declared: DimExpression,
    program: ExportedProgram,
    spec: ModelExportSpec,
) -> None:
    """Add what the symbol of a size stands for. Raises ExportFailure."""
    if not isinstance(size.obtained, torch.SymInt):
        raise _specialized(size, str(size.obtained), spec)
    obtained = size_expression(size.obtained)
    try:
        written = DimExpression.parse(obtained)
    except ValueError:
        written = None
    least, most = range_of(declared, spec.dims)
    for known, values in program.range_constraints.items():
        narrower = values.lower > least or values.upper < most
        if str(known) == obtained and narrower and not (written and written.is_sum):
            raise _specialized(size, f"{values.lower}..{values.upper}", spec)
    meaning = declared.solved_for(written) if written is not None else None
    if written is None or meaning is None:
        raise _specialized(size, f"only sizes of the form {rename_size(obtained, names)}", spec)
    if names.setdefault(written.dim, str(meaning)) != str(meaning):
        raise _specialized(size, f"always equal to {names[written.dim]}", spec)


def sizes_in_program(program: ExportedProgram, spec: ModelExportSpec) -> Iterator[SizeInProgram]:
    """Yield each size of each input. Raises ExportFailure for inputs of another type or rank."""
    tensors = list(_inputs(program))
    if len(tensors) != len(spec.inputs):
        raise _mismatch(
            f"the program takes {len(tensors)} inputs, the spec declares {len(spec.inputs)}"
        )
    for entry, tensor in zip(spec.inputs, tensors, strict=True):
        if entry.kind is InputKind.INT and isinstance(tensor, torch.SymInt):
            continue
        if not isinstance(tensor, torch.Tensor):
            raise _mismatch(f"input {entry.name} is a {type(tensor).__name__} in the program")
        if tensor.dtype != TORCH_DTYPES[entry.dtype] or tensor.dim() != len(entry.shape):
            raise _mismatch(
                f"input {entry.name} is declared {entry.dtype.value} with {len(entry.shape)} "
                f"dims, the program takes {describe_dtype(tensor.dtype)} with {tensor.dim()}"
            )
        for axis, (declared, obtained) in enumerate(zip(entry.shape, tensor.shape, strict=True)):
            yield SizeInProgram(entry, axis, declared, obtained)


def number_names(program: ExportedProgram, spec: ModelExportSpec) -> dict[str, str]:
    """Return the Int inputs by the symbols that the program has for them."""
    pairs = zip(_inputs(program), spec.inputs, strict=False)
    return {
        size_expression(obtained): entry.name
        for obtained, entry in pairs
        if isinstance(obtained, torch.SymInt) and entry.kind is InputKind.INT
    }


def _inputs(program: ExportedProgram) -> Iterator[object]:
    """Yield the program's inputs, without values that are constant in it."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for entry in program.graph_signature.input_specs:
        if entry.kind is InputOfProgram.USER_INPUT and not isinstance(entry.arg, ConstantArgument):
            yield nodes[entry.arg.name].meta["val"]


def check_numbers_kept(program: ExportedProgram, spec: ModelExportSpec) -> None:
    """Raise CaptureFailed for inputs that a capture of ours made constant."""
    arguments = [
        entry.arg
        for entry in program.graph_signature.input_specs
        if entry.kind is InputOfProgram.USER_INPUT
    ]
    given = [
        argument
        for argument in arguments
        if not isinstance(argument, ConstantArgument) or argument.value is not None
    ]
    if len(given) != len(spec.inputs):
        return  # symbol_names reports it
    for entry, argument in zip(spec.inputs, given, strict=True):
        if isinstance(argument, ConstantArgument):
            raise ExportFailure(
                Reason.CAPTURE_FAILED,
                f"input {entry.name}: torch.export reads it as a Python number, and the graph "
                f"keeps the one of the capture, {argument.value}",
                f"Declare {entry.name} as a tensor and compute with it as one, or write what "
                "depends on it (a loop over range, an index) with tensors.",
            )


def _check_constant(size: SizeInProgram, wanted: int) -> None:
    if not isinstance(size.obtained, torch.SymInt) and size.obtained != wanted:
        raise _mismatch(
            f"input {size.entry.name} dim {size.axis}: declared {wanted}, the program takes "
            f"{size.obtained}"
        )


def _specialized(size: SizeInProgram, obtained: str, spec: ModelExportSpec) -> ExportFailure:
    least, most = range_of(DimExpression.parse(str(size.declared)), spec.dims)
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"input {size.entry.name} dim {size.axis} ({size.declared}): requested {least}..{most}, "
        f"got {obtained}",
        "Declare in dims only the sizes that the program was captured for, or capture it again "
        "with torch.export.Dim for this dim.",
    )


def _mismatch(message: str) -> ExportFailure:
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        message,
        "inputs must list the program's tensors in order, as they were when it was captured.",
    )
