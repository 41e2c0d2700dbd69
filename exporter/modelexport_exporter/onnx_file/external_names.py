"""Which files hold the external data of an ONNX file that may come from anybody.

Guarantees that every name is below the directory of the model: a file that names `../secret` or an
absolute path makes a runtime read that file into a tensor. And that a tensor's place is in its
file: the checker of onnx accepts offsets beyond its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

import onnx
from onnx.external_data_helper import uses_external_data

LONGEST_NAME = 1024
_DIGITS = 20
_PACKED = frozenset(("int4", "uint4", "int2", "uint2", "float4_e2m1fn", "object"))


class UnsafeNameError(ValueError):
    """A name that leads out of the model's directory, or nowhere; the message says why."""


def external_names(model: onnx.ModelProto) -> tuple[str, ...]:
    """Return the files that hold external data, in order. Raises UnsafeNameError."""
    names = {
        safe_name(_location(tensor)) for tensor in _tensors(model) if uses_external_data(tensor)
    }
    return tuple(sorted(names))


def safe_name(name: str) -> str:
    """Return a relative name in its shortest form. Raises UnsafeNameError."""
    path = PurePosixPath(name)
    if not name or "\0" in name or "\\" in name or len(name) > LONGEST_NAME:
        raise UnsafeNameError(f"{name[:80]!r} is no relative path")
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise UnsafeNameError(f"{name!r} leads out of the directory of the model")
    return str(path)


def external_problem(model: onnx.ModelProto, directory: Path) -> str:
    """Return what is wrong with the places of external data; empty if each tensor is there."""
    for tensor in _tensors(model):
        if uses_external_data(tensor):
            try:
                path = directory / safe_name(_location(tensor))
            except UnsafeNameError as error:
                return f"external data: {error}"
            if problem := _misplaced(tensor, path):
                return f"external data of {tensor.name[:80]!r}: {problem}"
    return ""


def _misplaced(tensor: Any, path: Path) -> str:  # noqa: ANN401
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if path.is_symlink() or not path.is_file():
        return f"{path.name} {'is no regular file' if path.exists() else 'is not there'}"
    offset, length = (entries.get(key, "0") for key in ("offset", "length"))
    if not (offset.isdecimal() and length.isdecimal() and max(len(offset), len(length)) < _DIGITS):
        return f"offset {offset[:40]!r}, length {length[:40]!r} are no sizes"
    needed = _bytes_of(tensor)
    if needed is not None and "length" in entries and int(length) != needed:
        return f"its length is {length}, its shape needs {needed} bytes"
    end = int(offset) + (int(length) if "length" in entries else needed or 0)
    size = path.stat().st_size
    return f"it ends at byte {end}, {path.name} has {size}" if end > size else ""


def _bytes_of(tensor: Any) -> int | None:  # noqa: ANN401
    """Return the bytes of a tensor; None if elements share bytes, for texts and unknown types."""
    try:
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    except (KeyError, TypeError, ValueError):
        return None
    return None if kind.name in _PACKED else int(prod(tensor.dims)) * int(kind.itemsize)


def _location(tensor: Any) -> str:  # noqa: ANN401 - protobuf is untyped
    return next((entry.value for entry in tensor.external_data if entry.key == "location"), "")


def _tensors(model: onnx.ModelProto) -> Iterator[Any]:
    yield from _of_graph(model.graph)
    for training in model.training_info:
        yield from _of_graph(training.initialization)
        yield from _of_graph(training.algorithm)
    for function in model.functions:
        yield from _of_nodes(function.node)


def _of_graph(graph: Any) -> Iterator[Any]:  # noqa: ANN401
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _of_nodes(graph.node)


def _of_nodes(nodes: Any) -> Iterator[Any]:  # noqa: ANN401
    for node in nodes:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            for graph in (attribute.g, *attribute.graphs):
                yield from _of_graph(graph)
