"""What onnxruntime computes of a module that TorchScript's exporter wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import onnxruntime
import torch
from torch import nn

from modelexport_exporter.call import flatten
from modelexport_exporter.convert.script_symbolics import script_symbolics
from modelexport_exporter.convert.torchscript import (
    adapt_script,
    adapt_translation,
    compile_script,
)
from modelexport_exporter.convert.written_file import read_written

OPSET = 20
Array = np.ndarray[Any, Any]


def computed(module: nn.Module, x: torch.Tensor, file: Path) -> list[Array]:
    """Return the outputs of a file with fixed sizes, as the exporter writes it."""
    _write(torch.jit.script(module), x, file)
    return _run(file, x)


class Scripted:
    """The file of a module with one input, of which all dims are dynamic, as the rung makes it."""

    def __init__(self, module: nn.Module, x: torch.Tensor, file: Path) -> None:
        """Convert with an example, at which the compiled module must answer as the module does."""
        compiled = compile_script(module, ((x,), {}), None)
        literals = adapt_script(compiled, OPSET, [x.dtype])
        pairs = zip(flatten(compiled(x)), flatten(module(x)), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs)
        _write(compiled, x, file, dynamic_axes={"x": list(range(x.dim()))})
        ir.save(adapt_translation(read_written(file), literals), file)
        self._file = file

    def answers(self, x: torch.Tensor) -> list[Array]:
        """Return the outputs of the file."""
        return _run(self._file, x)


def _write(compiled: nn.Module, x: torch.Tensor, file: Path, **options: object) -> None:
    with torch.no_grad(), script_symbolics():
        torch.onnx.export(
            compiled,
            (x,),
            str(file),
            dynamo=False,
            opset_version=OPSET,
            input_names=["x"],
            **options,  # type: ignore[arg-type]
        )


def _run(file: Path, x: torch.Tensor) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return [np.asarray(output) for output in session.run(None, {"x": x.numpy()})]
