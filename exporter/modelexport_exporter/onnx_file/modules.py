"""Which modules of the original model the nodes of an ONNX file come from.

torch.export's route leaves the path and the class of each module in a node's metadata,
TorchScript's leaves the path in the node's name. A node that an optimizer fused from several keeps
the place of one; a node that names no module belongs to the model itself. Each count includes what
is below.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import onnx

from modelexport_exporter.core.types import ModuleScope
from modelexport_exporter.torch_internals.wrapper_names import own_path

SCOPES = "pkg.torch.onnx.name_scopes"
CLASSES = "pkg.torch.onnx.class_hierarchy"
MOST = 2000
"""Of a larger model the deepest modules are left out."""

_CALL = re.compile(r"@\d+")
"""torch.export counts the calls of a module that is called more than once."""
_NO_PARAMETER = frozenset(
    {
        onnx.TensorProto.INT32,
        onnx.TensorProto.INT64,
        onnx.TensorProto.BOOL,
        onnx.TensorProto.STRING,
    }
)
"""Element types of shapes, indices and masks."""


def module_scopes(model: onnx.ModelProto) -> tuple[ModuleScope, ...]:
    """Return the modules in the order of their first node, each before what is in it."""
    nodes: Counter[str] = Counter()
    parameters: Counter[str] = Counter()
    classes: dict[str, str] = {}
    order: dict[str, None] = {"": None}
    sizes = {
        tensor.name: math.prod(tensor.dims)
        for tensor in model.graph.initializer
        if tensor.data_type not in _NO_PARAMETER
    }
    for node, (path, named) in _placed(model.graph.node, ("", {})):
        classes = named | classes
        weight = sum(sizes.pop(name, 0) for name in node.input)
        for ancestor in ancestors(path):
            order.setdefault(ancestor)
            nodes[ancestor] += 1
            parameters[ancestor] += weight
    found = [
        ModuleScope(path, classes.get(path, ""), nodes[path], parameters[path])
        for path in _nested(order)
    ]
    return tuple(_fewer(found))


def module_of(node: onnx.NodeProto) -> str | None:
    """Return the path of the module that a node comes from; None where the node does not say."""
    place = _place(node)
    return place[0] if place else None


def ancestors(path: str) -> list[str]:
    """Return the paths from the model itself, "", down to the path."""
    parts = path.split(".") if path else []
    return [".".join(parts[:count]) for count in range(len(parts) + 1)]


def depth_of(path: str) -> int:
    """Return how deep below the model itself a module is."""
    return path.count(".") + 1 if path else 0


_Place = tuple[str, dict[str, str]]
"""A module's path, and the classes of the modules on the way, by path."""


def _placed(
    nodes: Iterable[onnx.NodeProto], around: _Place
) -> Iterator[tuple[onnx.NodeProto, _Place]]:
    """Yield each node with its place; those of loops and branches are where these are."""
    for node in nodes:
        place = _place(node) or around
        yield node, place
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _placed(graph.node, place)


def _place(node: onnx.NodeProto) -> _Place | None:
    metadata = {entry.key: entry.value for entry in node.metadata_props}
    scopes = [_CALL.sub("", scope) for scope in _strings(metadata.get(SCOPES, ""))]
    if scopes:
        modules = scopes[:-1]  # the last one is the operator
        classes = _strings(metadata.get(CLASSES, ""))[: len(modules)]
        named = {
            own_path(path): name
            for path, name in zip(modules, classes, strict=False)
            if path == own_path(path)
        }
        return (own_path(modules[-1]) if modules else ""), named
    if node.name.startswith("/"):
        return own_path(_path_in_name(node.name.split("/")[1:-1])), {}
    return None


def _path_in_name(parts: Iterable[str]) -> str:
    """Return `layer1.0.conv1` for layer1, layer1.0, conv1: a child of a list repeats its name."""
    path: list[str] = []
    before = ""
    for part in parts:
        path.append(part.removeprefix(f"{before}.") if before else part)
        before = part
    return ".".join(path)


def _strings(text: str) -> list[str]:
    """Return the list in a metadata entry; empty for what is none."""
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return []
    return [str(entry) for entry in found] if isinstance(found, list) else []


def _nested(paths: Iterable[str]) -> list[str]:
    """Sort paths so that a module is followed by its own, siblings by first appearance."""
    position = {path: index for index, path in enumerate(paths)}
    return sorted(position, key=lambda path: [position[above] for above in ancestors(path)])


def _fewer(scopes: list[ModuleScope]) -> list[ModuleScope]:
    depth = max(depth_of(scope.path) for scope in scopes)
    while len(scopes) > MOST and depth > 1:
        depth -= 1
        scopes = [scope for scope in scopes if depth_of(scope.path) <= depth]
    return scopes[:MOST]
