"""Which files hold the external data of an ONNX file that may come from anybody.

Guarantees that every name is below the directory of the model: a file that names `../secret` or an
absolute path makes a runtime read that file into a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import onnx
from onnx.external_data_helper import uses_external_data

LONGEST_NAME = 1024


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
