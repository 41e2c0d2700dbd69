"""Find private names of torch, onnxscript, onnxruntime and their relatives: `make lint` runs this.

Private is what starts with one underscore: a part of a module's path, an imported name, an
attribute, or a string that names one of them. Only the room `torch_internals` may use such names,
so that each has a test that fails when a release removes or changes it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

EXPORTER = Path(__file__).parents[1] / "exporter" / "modelexport_exporter"
ALLOWED = EXPORTER / "torch_internals"
LIBRARIES = frozenset(
    [
        "torch",
        "torchvision",
        "torchaudio",
        "transformers",
        "onnx",
        "onnx_ir",
        "onnxscript",
        "onnxruntime",
        "onnxruntime_extensions",
    ]
)
_BY_NAME = frozenset({"getattr", "hasattr", "setattr", "delattr", "object", "import_module"})
"""Functions, patch.object among them, that take the name of an attribute or a module."""
_NAMED_TUPLE = frozenset({"_asdict", "_fields", "_make", "_replace"})
_OPERATORS = "torch.ops."
"""Attributes below are operators: `torch.ops.aten._softmax` is in ATen's public list."""
_DOTTED = re.compile(r"\w+(\.\w+)+")


class Use(NamedTuple):
    """A private name in a file."""

    line: int
    name: str


def find_private_names(source: str) -> list[Use]:
    """Return the private names that the text of a module uses, by line."""
    tree = ast.parse(source)
    bound = _bound_names(tree)
    return sorted({use for node in _walk(tree) for use in _uses(node, bound)})


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes, but of `a.b.c` the whole only, not `a.b`."""
    yield node
    while isinstance(node, ast.Attribute):
        node = node.value
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def _uses(node: ast.AST, bound: dict[str, str]) -> Iterator[Use]:
    match node:
        case ast.Import() | ast.ImportFrom():
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names = [f"{prefix}{alias.name}" for alias in node.names]
            yield from (Use(node.lineno, name) for name in names if _is_librarys_private(name))
        case ast.Attribute():
            name = _private_attribute(node, bound)
            if name:
                yield Use(node.lineno, name)
        case ast.Call() if _function_name(node.func) in _BY_NAME:
            texts = [entry.value for entry in node.args if isinstance(entry, ast.Constant)]
            names = [text for text in texts if isinstance(text, str) and _is_private(text)]
            yield from (Use(node.lineno, repr(name)) for name in {*names} - _NAMED_TUPLE)
        case ast.keyword(arg=str() as name) if _is_private(name):
            yield Use(node.value.lineno, f"{name}=")
        case ast.Constant(value=str() as text) if _DOTTED.fullmatch(text.strip(".")):
            if _is_librarys_private(text):
                yield Use(node.lineno, repr(text))


def _private_attribute(node: ast.Attribute, bound: dict[str, str]) -> str:
    """Return the full name of an attribute that is private to a library; empty for others.

    A private attribute of an object whose class is unknown counts: only `self` and `cls` show
    private attributes of our own.
    """
    parts = [node.attr]
    value = node.value
    while isinstance(value, ast.Attribute):
        parts.insert(0, value.attr)
        value = value.value
    if isinstance(value, ast.Name) and value.id in bound:
        full = ".".join([bound[value.id], *parts])
        is_operator = full.startswith(_OPERATORS)
        return full if _is_librarys_private(full) and not is_operator else ""
    while parts and not _is_private(parts[-1]):
        parts.pop()
    root = value.id if isinstance(value, ast.Name) else ""
    is_own = root in {"self", "cls"} and len(parts) == 1
    return "" if is_own or not parts else ".".join([root, *parts])


def _bound_names(tree: ast.Module) -> dict[str, str]:
    """Return what names stand for: imports, and constants such as `_aten = torch.ops.aten`."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            heads = {alias.name.partition(".")[0] for alias in node.names if not alias.asname}
            bound |= {head: head for head in heads}
            bound |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            bound |= {
                alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
            }
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            head, _, rest = ast.unparse(statement.value).partition(".")
            if head in bound and rest.replace(".", "").isidentifier():
                bound[statement.targets[0].id] = f"{bound[head]}.{rest}"
    return bound


def _function_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_librarys(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES


def _is_librarys_private(name: str) -> bool:
    return _is_librarys(name) and any(_is_private(part) for part in name.split("."))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def main() -> int:
    """Print the uses outside of torch_internals; return 1 if there is one."""
    found = [
        f"{path.relative_to(EXPORTER.parents[1])}:{use.line}: private name {use.name}"
        for path in sorted(EXPORTER.rglob("*.py"))
        if ALLOWED not in path.parents
        for use in find_private_names(path.read_text(encoding="utf-8"))
    ]
    print("\n".join([*found, f"{len(found)} private names outside of {ALLOWED.name}."]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
