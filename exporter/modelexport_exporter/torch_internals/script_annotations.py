"""Annotations that torch.jit.script needs and cannot read, while it compiles.

`-> tuple[Tensor, ...]` and `-> object` are valid Python, but the compilation fails. Without them
the compiler infers what a function returns, and assumes that a parameter is a tensor: forward's
parameters that are others get the type of the argument.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import torch.jit.frontend

_UNKNOWN = frozenset({"Any", "Iterable", "Iterator", "Mapping", "Self", "Sequence", "object"})
_build_def = torch.jit.frontend.build_def


@contextmanager
def readable_annotations(types: Mapping[str, str]) -> Iterator[None]:
    """Let torch.jit.script see only annotations that it has a type for.

    `types`: of forward's parameters, for methods of this name that take the same ones and do not
    annotate them.
    """
    with patch.object(torch.jit.frontend, "build_def", partial(_build_readable, types)):
        yield


def types_of(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the types of forward's parameters, by name, as annotations of TorchScript."""
    parameters = inspect.signature(forward).parameters
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    types = {name: _type_of(value) for name, value in bound.arguments.items()}
    return {
        name: f"Optional[{kind}]" if parameters[name].default is None and kind else kind
        for name, kind in types.items()
    }


def _type_of(value: Any) -> str:  # noqa: ANN401
    """Return an annotation; empty for what TorchScript has no type for."""
    if value is None or isinstance(value, torch.Tensor):
        return "Tensor"
    if type(value) in {bool, int, float, str}:
        return type(value).__name__
    if type(value) is tuple:
        parts = [_type_of(part) for part in value]
        return f"Tuple[{', '.join(parts)}]" if parts and all(parts) else ""
    if type(value) is list and value:
        return f"List[{kind}]" if (kind := _type_of(value[0])) else ""
    if type(value) is dict and value:
        key, first = next(iter(value.items()))
        kind = _type_of(first)
        return f"Dict[{type(key).__name__}, {kind}]" if kind else ""
    return ""


def _build_readable(
    types: Mapping[str, str],
    context: Any,  # noqa: ANN401
    definition: Any,  # noqa: ANN401
    *options: Any,  # noqa: ANN401
    **named: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    if _unreadable(getattr(definition, "returns", None)):
        definition.returns = None
    arguments = definition.args.args
    for argument in arguments:
        if _unreadable(argument.annotation):
            argument.annotation = None
    if definition.name == "forward" and [each.arg for each in arguments[1:]] == list(types):
        for argument in arguments[1:]:
            if argument.annotation is None and types[argument.arg] not in {"", "Tensor"}:
                argument.annotation = _expression(types[argument.arg], argument)
    return _build_def(context, definition, *options, **named)  # type: ignore[no-untyped-call]


def _expression(text: str, place: ast.arg) -> ast.expr:
    """Return an annotation as if it stood at an argument."""
    expression = ast.parse(text, mode="eval").body
    for node in ast.walk(expression):
        ast.copy_location(node, place)
    return expression


def _unreadable(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(
        (isinstance(node, ast.Constant) and node.value is Ellipsis)
        or (isinstance(node, ast.Name) and node.id in _UNKNOWN)
        or (isinstance(node, ast.Attribute) and node.attr in _UNKNOWN)
        for node in ast.walk(annotation)
    )
