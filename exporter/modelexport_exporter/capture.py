"""Capture: from a module to an ExportedProgram that keeps the dims dynamic that were asked for.

One attempt of torch.export, at sizes from `dims`. Guarantees that the program's dims
are checked against the declared ones: torch never refines a range in silence here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch
from torch.export import ExportedProgram

from modelexport_exporter.call import Lowered, Numbers
from modelexport_exporter.conversion.attention_masks import masks_taken_as_given
from modelexport_exporter.conversion.capture_failure import explain_capture
from modelexport_exporter.conversion.torch_private import capturing_for_onnx
from modelexport_exporter.decompositions import capturing_calls
from modelexport_exporter.dims import capture_sizes, used_dims


def capture(
    module: torch.nn.Module, lowered: Lowered, code_dir: Path | None, *, strict: bool = False
) -> ExportedProgram:
    """Return the module's graph, its weights the module's own.

    `strict`: read the forward pass's bytecode instead of running it as Python.
    """
    spec, call = lowered.spec, lowered.call
    args, kwargs = call.example(capture_sizes(spec), numbers=Numbers.SYMBOLIC)
    try:
        with (
            quiet(),
            torch.no_grad(),
            capturing_for_onnx(dynamic=bool(used_dims(spec.inputs))),
            masks_taken_as_given(),
            nullcontext() if strict else capturing_calls(spec.export.rewrites.disabled),
        ):
            return torch.export.export(
                module,
                args,
                kwargs,
                dynamic_shapes=call.dynamic_shapes(module.forward),
                strict=strict,
                prefer_deferred_runtime_asserts_over_guards=True,
            )
    except Exception as error:
        raise explain_capture(error, module, lowered, code_dir) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep torch's warnings to ourselves: the verdict tells whether they mattered."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
