"""The names of a file's outputs: the spec's, else those of what forward returns."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.export import ExportedProgram

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import BoundInputs, output_paths, program_output_paths
from modelexport_exporter.call.output_names import Path, output_names
from modelexport_exporter.call.state_entries import state_outputs
from modelexport_exporter.convert.capture_failure import call_eagerly
from modelexport_exporter.onnx_file.weights import weight_keys


def names_of_outputs(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    count: int,
    program: ExportedProgram | None = None,
) -> Sequence[str]:
    """Return the names of the `count` outputs that a graph of the module has.

    `program`: the module's; without it, the module runs once.
    """
    spec = bound_inputs.spec
    if spec.outputs:
        return spec.outputs
    paths = program_output_paths(program) if program else _returned_paths(module, bound_inputs)
    last = state_outputs(spec)
    if last:
        paths = [path[1:] for path in paths[: -len(last)]]
    if len(paths) + len(last) != count:  # verification finds out why
        paths, last = [(place,) for place in range(count)], []
    return output_names(paths, _taken(spec, module), last)


def _returned_paths(module: torch.nn.Module, bound_inputs: BoundInputs) -> list[Path]:
    try:
        return output_paths(call_eagerly(module, bound_inputs))
    except Exception:  # noqa: BLE001 - forward is the user's code; verification reports it
        return []


def _taken(spec: ModelExportSpec, module: torch.nn.Module) -> set[str]:
    """Return the names of inputs, and of weights where consumers see them."""
    taken = {entry.name for entry in spec.inputs}
    if spec.export.weights.are_inputs or spec.export.parameter_names:
        taken |= {*weight_keys(module), *spec.export.parameter_names}
    return taken
