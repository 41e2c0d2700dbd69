"""Properties of an ONNX file, read from the file and not taken from its writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx

from modelexport_api.status import TensorInfo
from modelexport_exporter.core.dims import ANY_RANK
from modelexport_exporter.core.types import ModuleScope
from modelexport_exporter.onnx_file.modules import module_scopes


@dataclass(frozen=True)
class ArtifactFacts:
    """Inputs, outputs, versions and operators of an ONNX file."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    opset: int
    ir_version: int
    op_counts: dict[str, int]
    functions: frozenset[str] = frozenset()
    """Those with a body in the file, `domain::Op`."""
    modules: tuple[ModuleScope, ...] = ()


def read_back(path: Path) -> ArtifactFacts:
    """Return the facts, without loading external data."""
    model = onnx.load(path, load_external_data=False)
    initialized = {tensor.name for tensor in model.graph.initializer}
    return ArtifactFacts(
        inputs=tuple(_tensor(v) for v in model.graph.input if v.name not in initialized),
        outputs=tuple(_tensor(value) for value in model.graph.output),
        opset=max(
            (i.version for i in model.opset_import if i.domain in {"", "ai.onnx"}), default=0
        ),
        ir_version=model.ir_version,
        op_counts=dict(sorted(Counter(_operators(model)).items())),
        functions=frozenset(f"{entry.domain}::{entry.name}" for entry in model.functions),
        modules=module_scopes(model),
    )


def _tensor(value: onnx.ValueInfoProto) -> TensorInfo:
    tensor, is_tensor = value.type.tensor_type, value.type.HasField("tensor_type")
    return TensorInfo(
        name=value.name,
        dtype=dtype_name(tensor.elem_type),
        shape=_shape(tensor) if tensor.HasField("shape") or not is_tensor else [ANY_RANK],
    )


def _shape(tensor: onnx.TypeProto.Tensor) -> list[int | str]:
    return [
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?"
        for dim in tensor.shape.dim
    ]


def dtype_name(elem_type: int) -> str:
    """Return the API's name of an ONNX element type: `float32` for FLOAT."""
    name: str = onnx.TensorProto.DataType.Name(elem_type).lower()
    return {"float": "float32", "double": "float64"}.get(name, name)


def _operators(model: onnx.ModelProto) -> Iterator[str]:
    yield from _of_nodes(model.graph.node)
    for function in model.functions:
        yield from _of_nodes(function.node)


def operator_of(node: onnx.NodeProto) -> str:
    """Return `TopK`, or `domain::Op` of another domain than ONNX's."""
    standard = node.domain in {"", "ai.onnx"}
    return node.op_type if standard else f"{node.domain}::{node.op_type}"


def _of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    for node in nodes:
        yield operator_of(node)
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _of_nodes(graph.node)
