"""Capture: from a module to an ExportedProgram that keeps the dims dynamic that were asked for.

One attempt of torch.export, at sizes from `dims`. Guarantees that the program's dims
are checked against the declared ones: torch never refines a range in silence here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch.export import Dim as TorchDim
from torch.export import ExportedProgram

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.conversion.capture_failure import explain_capture
from modelexport_exporter.conversion.torch_private import capturing_for_onnx
from modelexport_exporter.dims import capture_sizes, is_dynamic, used_dims
from modelexport_exporter.example_inputs import example_inputs

DynamicShapes = tuple[dict[int, object], ...]


def capture(
    module: torch.nn.Module,
    spec: ModelExportSpec,
    code_dir: Path | None,
    *,
    strict: bool = False,
) -> ExportedProgram:
    """Return the module's graph, its weights the module's own.

    `strict`: read the forward pass's bytecode instead of running it as Python.
    """
    inputs = example_inputs(spec, capture_sizes(spec))
    shapes = dynamic_shapes(spec)
    try:
        with quiet(), torch.no_grad(), capturing_for_onnx(dynamic=bool(used_dims(spec.inputs))):
            return torch.export.export(
                module,
                inputs,
                dynamic_shapes=_by_parameter(shapes),
                strict=strict,
                prefer_deferred_runtime_asserts_over_guards=True,
            )
    except Exception as error:
        raise explain_capture(error, module, inputs, spec, code_dir) from error


def dynamic_shapes(spec: ModelExportSpec) -> DynamicShapes:
    """Return the dynamic dims of each input; dims of one name are one Dim."""
    dims = {
        name: TorchDim(name, min=dim.min, max=dim.max)
        for name, dim in spec.dims.items()
        if is_dynamic(dim)
    }
    return tuple(
        {
            axis: dims[size]
            for axis, size in enumerate(entry.shape)
            if isinstance(size, str) and size in dims
        }
        for entry in spec.inputs
    )


def _by_parameter(shapes: DynamicShapes) -> tuple[object, ...]:
    """Return the shapes as torch.export takes them for positional arguments."""
    return tuple(shape or None for shape in shapes)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep torch's warnings to ourselves: the verdict tells whether they mattered."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
