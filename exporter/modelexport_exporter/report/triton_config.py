"""config.pbtxt: how Triton Inference Server serves an artifact. Pure, in protobuf's text format.

Guarantees what Triton's core and its onnxruntime backend check when they load a model:

- Shapes are those that an onnxruntime session states, not only the file's: the backend compares
  outputs exactly, and the runtime infers sizes that a file leaves open.
- `max_batch_size` is positive only where batching is right: the first dim of every input and output
  is one and the same dynamic dim, a single row is allowed, and rows were seen not to change each
  other. Shapes then leave the batch out; `[batch]` alone becomes `[1]`, reshaped to nothing.
- A scalar is `[1]`. A reshape to nothing is refused for models that do not batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec, Provider
from modelexport_api.status import Stage, TensorInfo
from modelexport_exporter.core.dims import ANY_RANK, DimSizes
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel
from modelexport_exporter.publish.layout import MODEL_NAME, model_name

DTYPES = {
    "bool": "TYPE_BOOL",
    "uint8": "TYPE_UINT8",
    "uint16": "TYPE_UINT16",
    "uint32": "TYPE_UINT32",
    "uint64": "TYPE_UINT64",
    "int8": "TYPE_INT8",
    "int16": "TYPE_INT16",
    "int32": "TYPE_INT32",
    "int64": "TYPE_INT64",
    "float16": "TYPE_FP16",
    "bfloat16": "TYPE_BF16",
    "float32": "TYPE_FP32",
    "float64": "TYPE_FP64",
    "string": "TYPE_STRING",
}
"""Triton's name of each element type that its onnxruntime backend takes."""


@dataclass(frozen=True)
class Served:
    """What is served: tensors as the runtime reports them, and the execution provider."""

    name: str
    inputs: Sequence[TensorInfo]
    outputs: Sequence[TensorInfo]
    max_batch_size: int
    provider: str


def check_servable(tensors: Iterable[TensorInfo]) -> None:
    """Fail for tensors that Triton cannot take or return."""
    for tensor in tensors:
        if tensor.dtype not in DTYPES:
            raise _not_servable(tensor, f"is of type {tensor.dtype}")
        if 0 in tensor.shape:
            raise _not_servable(tensor, f"has a dim of size 0 (shape {tensor.shape})")


def _not_servable(tensor: TensorInfo, what: str) -> ExportFailure:
    return ExportFailure(
        Reason.CONTRACT_VIOLATED,
        f"destination.layout is Triton, but {tensor.name} {what}, which Triton's onnxruntime "
        "backend does not take",
        "Change what the model takes or returns, or set destination.layout to Plain.",
        stage=Stage.CONTRACT,
    )


def config_of(
    spec: ModelExportSpec, converted: ConvertedModel, outcome: VerificationOutcome
) -> bytes:
    """Return the content of config.pbtxt for a verified artifact."""
    for tensor in converted.outputs:
        if ANY_RANK in tensor.shape:
            raise _not_servable(tensor, "has a number of dims that varies")
    outputs = with_session_shapes(converted.outputs, outcome.output_shapes)
    batch = batch_dim(spec, [*converted.inputs, *outputs])
    batches = batch is not None and outcome.rows_independent is True
    served = Served(
        name=model_name(spec.destination.uri),
        inputs=converted.inputs,
        outputs=outputs,
        max_batch_size=DimSizes.of(spec).highest[batch] if batches and batch else 0,
        provider=outcome.summary.provider,
    )
    return config_text(served).encode()


def with_session_shapes(
    outputs: Sequence[TensorInfo], shapes: Mapping[str, tuple[int | str, ...]]
) -> list[TensorInfo]:
    """Return outputs with the shapes that a session states, where it states any."""
    return [
        tensor.model_copy(update={"shape": list(shapes.get(tensor.name, tensor.shape))})
        for tensor in outputs
    ]


def batch_dim(spec: ModelExportSpec, tensors: Sequence[TensorInfo]) -> str | None:
    """Return the dynamic dim that every tensor begins with, if a single row is within its range."""
    first = {tensor.shape[0] if tensor.shape else None for tensor in tensors}
    if len(first) != 1:
        return None
    name = first.pop()
    if not isinstance(name, str) or name not in spec.dims:
        return None
    sizes = DimSizes.of(spec)
    return name if sizes.is_dynamic(name) and sizes.lowest[name] <= 1 else None


def config_text(served: Served) -> str:
    """Return the model's configuration in protobuf's text format."""
    return "\n".join(_lines(served)) + "\n"


def _lines(served: Served) -> Iterator[str]:
    yield f"name: {quote(served.name)}"
    yield 'platform: "onnxruntime_onnx"'
    yield 'backend: "onnxruntime"'
    yield f"default_model_filename: {quote(MODEL_NAME)}"
    yield f"max_batch_size: {served.max_batch_size}"
    for field, tensors in (("input", served.inputs), ("output", served.outputs)):
        for tensor in tensors:
            yield from _tensor(field, tensor, batches=served.max_batch_size > 0)
    if served.max_batch_size > 0:
        yield "dynamic_batching { }"
    kind = "KIND_CPU" if served.provider == Provider.CPU else "KIND_GPU"
    yield f"instance_group {{ count: 1 kind: {kind} }}"
    if served.provider == Provider.TENSORRT:
        accelerator = 'gpu_execution_accelerator { name: "tensorrt" }'
        yield f"optimization {{ execution_accelerators {{ {accelerator} }} }}"


def _tensor(field: str, tensor: TensorInfo, *, batches: bool) -> Iterator[str]:
    shape = tensor.shape[1:] if batches else tensor.shape
    dims = [size if isinstance(size, int) else -1 for size in shape]
    yield f"{field} {{"
    yield f"  name: {quote(tensor.name)}"
    yield f"  data_type: {DTYPES[tensor.dtype]}"
    yield f"  dims: [ {', '.join(map(str, dims or [1]))} ]"
    if batches and not dims:
        yield "  reshape { }"
    yield "}"


def quote(text: str) -> str:
    """Return a string of protobuf's text format: bytes that are not plain are octal escapes."""
    plain = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"  # noqa: PLR2004
        for byte in text.encode()
    )
    return f'"{"".join(plain)}"'
