"""The shapes that a file returns at given sizes, without computing its values.

onnxruntime loads the file with numbers for its dims and without its large weights: it folds the
arithmetic of sizes with its own kernels, and states the shapes that follow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import onnx
import onnxruntime

from modelexport_exporter.verification.shapes.expressions import evaluate

SMALL = 256
"""Elements of a constant that may be a shape, and stays."""
_NOTHING_LOGGED = 4

Known = tuple[int | None, ...]
"""None: the runtime does not know this size before a run."""


class FileShapes:
    """A file whose weights are inputs of the same shape."""

    def __init__(self, path: Path) -> None:
        self._model = onnx.load(path, load_external_data=False)
        graph = self._model.graph
        names = {value.name for value in graph.input}
        large = [tensor for tensor in graph.initializer if _is_large(tensor)]
        kept = [tensor for tensor in graph.initializer if not _is_large(tensor)]
        del graph.initializer[:]
        graph.initializer.extend(kept)
        graph.input.extend(
            onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            for tensor in large
            if tensor.name not in names
        )
        # What the file declares would stand in place of what the runtime finds.
        del graph.value_info[:]
        for value in graph.output:
            value.type.tensor_type.ClearField("shape")

    def at(self, sizes: Mapping[str, int]) -> dict[str, Known] | None:
        """Return the shapes of outputs by name; None if the runtime does not load the file."""
        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        for value in model.graph.input:
            for dim in value.type.tensor_type.shape.dim:
                if (size := evaluate(dim.dim_param, sizes)) is not None:
                    dim.dim_value = size
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _NOTHING_LOGGED
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception:  # noqa: BLE001 - onnxruntime raises whatever it likes
            return None
        return {
            entry.name: tuple(size if isinstance(size, int) else None for size in entry.shape)
            for entry in session.get_outputs()
            if entry.shape
        }


def _is_large(tensor: onnx.TensorProto) -> bool:
    external = tensor.data_location == onnx.TensorProto.EXTERNAL
    return external or math.prod(tensor.dims) > SMALL
