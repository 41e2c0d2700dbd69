"""Inputs and outputs of a file that are buffers of the model: its `model.state`."""

from __future__ import annotations

import torch

from modelexport_api.spec import DType, Input, ModelExportSpec
from modelexport_exporter.user_code.state_arguments import argument_of

_PREFIX = "next_"


def _paths(spec: ModelExportSpec) -> list[str]:
    return spec.model.state if spec.model is not None else []


def state_inputs(spec: ModelExportSpec, module: torch.nn.Module) -> list[Input]:
    """Return the inputs that are buffers: as declared, else with the shape of the buffer."""
    declared = {entry.name: entry for entry in spec.inputs}
    return [
        declared.get(argument_of(path)) or _input_of(path, module.get_buffer(path))
        for path in _paths(spec)
    ]


def _input_of(path: str, buffer: torch.Tensor) -> Input:
    dtype = DType(str(buffer.dtype).removeprefix("torch."))
    return Input(name=argument_of(path), dtype=dtype, shape=list(buffer.shape))


def outputs_with_state(spec: ModelExportSpec) -> list[str]:
    """Return the names of all outputs; none where the spec names none."""
    return [*spec.outputs, *state_outputs(spec)] if spec.outputs else []


def state_outputs(spec: ModelExportSpec) -> list[str]:
    """Return the names of the last outputs, which are buffers."""
    return [f"{_PREFIX}{argument_of(path)}" for path in _paths(spec)]
