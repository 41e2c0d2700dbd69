"""What Triton does with a config.pbtxt when it loads an ONNX model, as far as it can refuse it.

The schema is Triton's own. The rules are those of its core (ValidateIOShape) and of its onnxruntime
backend (ValidateInputs, ValidateOutputs, CompareDimsSupported), which hold the configuration
against what an onnxruntime session states.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import onnxruntime
from google.protobuf import text_format

ORT_TYPES = {
    "TYPE_BOOL": "tensor(bool)",
    "TYPE_UINT8": "tensor(uint8)",
    "TYPE_UINT16": "tensor(uint16)",
    "TYPE_UINT32": "tensor(uint32)",
    "TYPE_UINT64": "tensor(uint64)",
    "TYPE_INT8": "tensor(int8)",
    "TYPE_INT16": "tensor(int16)",
    "TYPE_INT32": "tensor(int32)",
    "TYPE_INT64": "tensor(int64)",
    "TYPE_FP16": "tensor(float16)",
    "TYPE_BF16": "tensor(bfloat16)",
    "TYPE_FP32": "tensor(float)",
    "TYPE_FP64": "tensor(double)",
    "TYPE_STRING": "tensor(string)",
}


@cache
def schema() -> Any:  # noqa: ANN401 - generated code
    """Triton's ModelConfig; without the package around it, which wants grpc."""
    package = importlib.util.find_spec("tritonclient")
    assert package is not None
    assert package.submodule_search_locations
    path = Path(package.submodule_search_locations[0]) / "grpc" / "model_config_pb2.py"
    spec = importlib.util.spec_from_file_location("model_config_pb2", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parsed(text: str) -> Any:  # noqa: ANN401
    """The configuration, or the error that Triton would end with."""
    return text_format.Parse(text, schema().ModelConfig())


def dtype(tensor: Any) -> str:  # noqa: ANN401
    name: str = schema().DataType.Name(tensor.data_type)
    return name


def complaints(config: Any) -> list[str]:  # noqa: ANN401
    """What Triton's core has against a configuration, whatever the model."""
    found = []
    for tensor in (*config.input, *config.output):
        if not tensor.name or not tensor.data_type or not tensor.dims:
            found.append(f"{tensor.name}: name, data_type and dims are needed")
        if any(dim < 1 and dim != -1 for dim in (*tensor.dims, *tensor.reshape.shape)):
            found.append(f"{tensor.name}: a dim is at least 1, or -1")
        if tensor.HasField("reshape"):
            if not tensor.reshape.shape and not config.max_batch_size:
                found.append(f"{tensor.name}: empty reshape for a model that does not batch")
            if not tensor.reshape.shape and list(tensor.dims) != [1]:
                found.append(f"{tensor.name}: dims and reshape differ in size")
    if config.HasField("dynamic_batching") and not config.max_batch_size:
        found.append("dynamic_batching without max_batch_size")
    return found


def refusals(config: Any, session: onnxruntime.InferenceSession) -> list[str]:  # noqa: ANN401
    """What Triton's core or its onnxruntime backend would refuse the model for."""
    found = complaints(config)
    inputs = {entry.name: entry for entry in session.get_inputs()}
    outputs = {entry.name: entry for entry in session.get_outputs()}
    if len(config.input) != len(inputs):
        found.append(f"{len(config.input)} inputs, the model provides {len(inputs)}")
    for tensors, known, exact in ((config.input, inputs, False), (config.output, outputs, True)):
        for tensor in tensors:
            entry = known.get(tensor.name)
            if entry is None:
                found.append(f"no tensor {tensor.name}")
            elif ORT_TYPES[dtype(tensor)] != entry.type:
                found.append(f"{tensor.name}: {dtype(tensor)} for {entry.type}")
            else:
                found += _shape(tensor, entry.shape, config.max_batch_size, exact=exact)
    return found


def _shape(tensor: Any, stated: list[Any], max_batch: int, *, exact: bool) -> list[str]:  # noqa: ANN401
    model = [size if isinstance(size, int) else -1 for size in stated]
    dims = list(tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims)
    if not model:
        return [] if all(dim == 1 for dim in dims) else [f"{tensor.name}: a scalar is [1]"]
    full = [-1, *dims] if max_batch else dims
    if max_batch and model[0] != -1:
        return [f"{tensor.name}: the first dim must be -1 for batching, it is {model[0]}"]
    agree = len(full) == len(model) and all(
        have == size for have, size in zip(full, model, strict=True) if exact or size != -1
    )
    return [] if agree else [f"{tensor.name}: {full} for {model}"]
