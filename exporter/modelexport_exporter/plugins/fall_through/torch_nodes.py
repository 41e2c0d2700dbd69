"""Run nodes that fell through in PyTorch, inside onnxruntime.

onnxruntime-extensions calls Python for operators that are defined with it. Verification loads a
copy of the file in which each such node is replaced by a Python operator; the file itself does not
change.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import torch
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.plugins.fall_through.hosted_nodes import TorchNodes
from modelexport_exporter.plugins.fall_through.operators import NO_DOMAINS, Call, read_node

_COPY_NAME = "verified-with-torch.onnx"
_ELEMENT = onnx.TensorProto
_HOSTED: dict[int, str] = {
    _ELEMENT.FLOAT: "dt_float",
    _ELEMENT.DOUBLE: "dt_double",
    _ELEMENT.INT8: "dt_int8",
    _ELEMENT.INT16: "dt_int16",
    _ELEMENT.INT32: "dt_int32",
    _ELEMENT.INT64: "dt_int64",
    _ELEMENT.UINT8: "dt_uint8",
    _ELEMENT.UINT16: "dt_uint16",
    _ELEMENT.UINT32: "dt_uint32",
    _ELEMENT.UINT64: "dt_uint64",
    _ELEMENT.BOOL: "dt_bool",
}
"""Element types that Python operators take; half precision passes through float32."""
_HALF: dict[int, torch.dtype] = {_ELEMENT.FLOAT16: torch.float16, _ELEMENT.BFLOAT16: torch.bfloat16}
_PLAIN = frozenset(
    getattr(onnx.AttributeProto, name)
    for name in ("INT", "INTS", "FLOAT", "FLOATS", "STRING", "STRINGS")
)
_domains = (f"modelexport.torch{number}" for number in itertools.count())
"""A domain for each Python operator.

onnxruntime-extensions 0.15 keeps the operators of a domain in one vector, which moves when it
grows, and a session keeps pointers into it: no operator is added to a domain that a session uses.
"""


@contextmanager
def host_nodes_in_torch(model_path: Path) -> Iterator[tuple[Path, TorchNodes]]:
    """Yield a copy of the file whose nodes of PyTorch's domains run in PyTorch, while it is needed.

    The copy is in the same directory: external data is found relative to it.
    """
    model = onnx.load(model_path, load_external_data=False)
    nodes = TorchNodes()
    types = _types(model)
    own = {(function.domain, function.name) for function in model.functions}
    _host(model.graph, types, own, nodes)
    model.opset_import.extend(onnx.helper.make_opsetid(domain, 1) for domain in nodes.domains)
    copy = model_path.with_name(_COPY_NAME)
    onnx.save(model, copy)
    try:
        yield copy, nodes
    finally:
        copy.unlink()


def _host(
    graph: onnx.GraphProto,
    types: dict[str, int],
    own: set[tuple[str, str]],
    nodes: TorchNodes,
) -> None:
    replaced: list[onnx.NodeProto] = []
    for node in graph.node:
        for inner in _graphs(node):
            _host(inner, types, own, nodes)
        call = None if (node.domain, node.op_type) in own else _call(node)
        replaced.extend([node] if call is None else _host_node(node, call, types, nodes))
    del graph.node[:]
    graph.node.extend(replaced)


def _call(node: onnx.NodeProto) -> Call | None:
    if node.domain in NO_DOMAINS:
        return None
    attributes = {entry.name: _python(entry) for entry in node.attribute if entry.type in _PLAIN}
    return read_node(node.domain, node.op_type, attributes, len(node.input))


def _python(attribute: onnx.AttributeProto) -> Any:  # noqa: ANN401
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, int | float):
        return value
    return [item.decode() if isinstance(item, bytes) else item for item in value]


def _host_node(
    node: onnx.NodeProto, call: Call, types: dict[str, int], nodes: TorchNodes
) -> list[onnx.NodeProto]:
    """Return the nodes that replace a node, and define the Python operator."""
    name = f"{node.domain}::{node.op_type}"
    domain = next(_domains)
    inputs, outputs = list(node.input), list(node.output)
    if inputs and inputs[0] in types:
        for value in outputs:
            # A script has no types of results; what the operator returns is compared with this.
            types.setdefault(value, types[inputs[0]])
    missing = [value for value in (*inputs, *outputs) if value not in types]
    unknown = [
        onnx.TensorProto.DataType.Name(types[value])
        for value in (*inputs, *outputs)
        if value in types and types[value] not in {*_HOSTED, *_HALF}
    ]
    if missing or unknown:
        what = f"values of type {unknown[0]}" if unknown else f"{missing[0]}, whose type is unknown"
        raise ExportFailure(
            Reason.RUNTIME_FAILED,
            f"{name} fell through and cannot be verified: it handles {what}",
            "Translate the operator in a plugin (export.plugins).",
        )
    before, fed = _casts(inputs, types, domain, into=True)
    after, got = _casts(outputs, types, domain, into=False)
    _define(
        f"{domain}::{node.op_type}",
        call,
        [types[value] for value in inputs],
        [types[value] for value in outputs],
        nodes,
    )
    nodes.names.append(name)
    nodes.domains.append(domain)
    made = onnx.helper.make_node(node.op_type, fed, got, name=node.name, domain=domain)
    return [*before, made, *after]


def _casts(
    values: list[str], types: Mapping[str, int], unique: str, *, into: bool
) -> tuple[list[onnx.NodeProto], list[str]]:
    """Return casts between half precision and float32, and the names beyond them."""
    casts, names = [], []
    for value in values:
        if types[value] not in _HALF:
            names.append(value)
            continue
        wide = f"{value}_{unique}_float32"
        names.append(wide)
        ends = ([value], [wide]) if into else ([wide], [value])
        target = _ELEMENT.FLOAT if into else types[value]
        casts.append(onnx.helper.make_node("Cast", *ends, to=target))
    return casts, names


def _define(
    operator: str, call: Call, inputs: list[int], outputs: list[int], nodes: TorchNodes
) -> None:
    """Define the Python operator that runs a call, with the element types of its values."""
    from onnxruntime_extensions import PyCustomOpDef, onnx_op

    def kinds(types: list[int]) -> list[Any]:
        return [getattr(PyCustomOpDef, _HOSTED.get(entry, "dt_float")) for entry in types]

    kept = [_HALF.get(entry) for entry in inputs]

    def run(*arrays: NDArray[Any]) -> Any:  # noqa: ANN401
        # An exception would end the process: onnxruntime's threads cannot carry it.
        try:
            tensors = [
                torch.from_numpy(np.ascontiguousarray(array)).to(dtype)
                for array, dtype in zip(arrays, kept, strict=True)
            ]
            results = [
                _array(result, wanted)
                for result, wanted in zip(call(tensors), outputs, strict=True)
            ]
        except Exception as error:  # noqa: BLE001
            nodes.errors.append(f"{call.operator}: {type(error).__name__}: {error}")
            results = [np.zeros(0, dtype=np.float32) for _ in outputs]
        return results[0] if len(results) == 1 else tuple(results)

    onnx_op(op_type=operator, inputs=kinds(inputs), outputs=kinds(outputs))(run)


def _array(tensor: torch.Tensor, wanted: int) -> NDArray[Any]:
    if int(ir.tensor_adapters.from_torch_dtype(tensor.dtype)) != wanted:
        declared = onnx.TensorProto.DataType.Name(wanted)
        raise TypeError(f"it returns {tensor.dtype}, and the file says {declared}")
    wide = tensor.float() if tensor.dtype in _HALF.values() else tensor
    array: NDArray[Any] = wide.detach().cpu().contiguous().numpy()
    return array


def _types(model: onnx.ModelProto) -> dict[str, int]:
    """Return the element type of every value that has one."""
    found: dict[str, int] = {}
    for candidate in (onnx.shape_inference.infer_shapes(model), model):
        _collect(candidate.graph, found)
    return found


def _collect(graph: onnx.GraphProto, found: dict[str, int]) -> None:
    for value in (*graph.value_info, *graph.input, *graph.output):
        if value.type.tensor_type.elem_type:
            found[value.name] = value.type.tensor_type.elem_type
    for tensor in graph.initializer:
        found[tensor.name] = tensor.data_type
    for node in graph.node:
        for inner in _graphs(node):
            _collect(inner, found)


def _graphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs
