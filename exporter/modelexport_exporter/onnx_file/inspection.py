"""What an ONNX file holds, read without torch: for people (`modelexport inspect`) and machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from onnx.external_data_helper import uses_external_data
from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.status import TensorInfo
from modelexport_exporter.onnx_file.external_names import external_problem
from modelexport_exporter.onnx_file.function_calls import check_functions

STANDARD_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "ai.onnx.training"})
_ELEMENT = {value: name.lower() for name, value in onnx.TensorProto.DataType.items()} | {
    onnx.TensorProto.UNDEFINED: "unknown",
    onnx.TensorProto.FLOAT: "float32",
    onnx.TensorProto.DOUBLE: "float64",
}


class Initializer(ApiModel):
    """A weight."""

    name: str
    dtype: str
    shape: list[int]
    size_bytes: int
    external: str | None = Field(default=None, description="The file that holds its values.")


class Inspection(ApiModel):
    """What an ONNX file holds."""

    file: str
    size_bytes: int = Field(description="Of the file and of its external data.")
    ir_version: int
    producer: str = ""
    opsets: dict[str, int] = Field(description="The version of each domain; ai.onnx is ONNX's.")
    valid: bool = Field(description="Whether onnx.checker accepts the file.")
    problem: str = Field(
        default="", description="What is against it: places of external data, or onnx.checker's."
    )
    inputs: list[TensorInfo]
    outputs: list[TensorInfo]
    initializers: list[Initializer]
    nodes: int
    ops: dict[str, int] = Field(description="Nodes by operator, those of subgraphs included.")
    custom_domains: list[str] = Field(default_factory=list)
    functions: list[str] = Field(default_factory=list)
    metadata: dict[str, str] = Field(default_factory=dict)
    graph: str | None = Field(default=None, description="The graph in ONNX's textual form.")


def inspect_file(path: Path, *, graph: bool = False) -> Inspection:
    """Return what the file holds.

    Raises the errors of onnx if it is no ONNX file, TooManyNodesError if it cannot be checked.
    """
    model = onnx.load(str(path), load_external_data=False)
    if not model.HasField("graph"):
        raise ValueError("it has no graph")
    check_functions(model)
    problem = external_problem(model, path.parent) or _check(path)
    ops = Counter(_op_name(node) for node in all_nodes(model))
    external = {entry.external for entry in _initializers(model) if entry.external}
    files = [path, *(path.parent / name for name in sorted(external))]
    return Inspection(
        file=path.name,
        size_bytes=sum(file.stat().st_size for file in files if file.is_file()),
        ir_version=model.ir_version,
        producer=f"{model.producer_name} {model.producer_version}".strip(),
        opsets={entry.domain or "ai.onnx": entry.version for entry in model.opset_import},
        valid=not problem,
        problem=problem,
        inputs=[_tensor(value) for value in model.graph.input],
        outputs=[_tensor(value) for value in model.graph.output],
        initializers=list(_initializers(model)),
        nodes=sum(ops.values()),
        ops=dict(ops.most_common()),
        custom_domains=sorted(_domains(model) - STANDARD_DOMAINS),
        functions=[f"{entry.domain}::{entry.name}" for entry in model.functions],
        metadata={entry.key: entry.value for entry in model.metadata_props},
        graph=printable_graph(model) if graph else None,
    )


def printable_graph(model: onnx.ModelProto) -> str:
    """Return the model in ONNX's textual form; large weights by dtype and shape alone."""
    shortened = onnx.ModelProto()
    shortened.CopyFrom(model)
    for tensor in shortened.graph.initializer:
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data"):
            tensor.ClearField(field)
        del tensor.external_data[:]
        tensor.ClearField("data_location")
    return str(onnx.printer.to_text(shortened))


def all_nodes(model: onnx.ModelProto) -> Iterator[Any]:
    """Yield the nodes of a file, those of loops, branches and functions too."""
    yield from _nodes(model.graph.node)
    for function in model.functions:
        yield from _nodes(function.node)


def _nodes(nodes: Any) -> Iterator[Any]:  # noqa: ANN401 - protobuf is untyped
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in [attribute.g, *attribute.graphs]:
                yield from _nodes(graph.node)


def _op_name(node: Any) -> str:  # noqa: ANN401
    domain = "" if node.domain in {"", "ai.onnx"} else f"{node.domain}::"
    return f"{domain}{node.op_type}"


def _domains(model: onnx.ModelProto) -> set[str]:
    return {node.domain for node in all_nodes(model)}


def _check(path: Path) -> str:
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as error:  # noqa: BLE001 - the checker raises many kinds
        return " ".join(str(error).split())[:1000]
    return ""


def _tensor(value: Any) -> TensorInfo:  # noqa: ANN401
    kind = value.type.WhichOneof("value")
    wrapped, name = value.type, ""
    while kind in {"sequence_type", "optional_type"}:
        name += f"{kind.removesuffix('_type')} of "
        wrapped = getattr(wrapped, kind).elem_type
        kind = wrapped.WhichOneof("value")
    tensor = wrapped.tensor_type
    return TensorInfo(
        name=value.name,
        dtype=name + _ELEMENT.get(tensor.elem_type, "unknown"),
        shape=[
            dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?"
            for dim in tensor.shape.dim
        ],
    )


def _initializers(model: onnx.ModelProto) -> Iterator[Initializer]:
    for tensor in model.graph.initializer:
        external = {entry.key: entry.value for entry in tensor.external_data}
        outside = uses_external_data(tensor)
        yield Initializer(
            name=tensor.name,
            dtype=_ELEMENT.get(tensor.data_type, "unknown"),
            shape=list(tensor.dims),
            size_bytes=int(external.get("length", 0)) if outside else tensor.ByteSize(),
            external=external.get("location") if outside else None,
        )
