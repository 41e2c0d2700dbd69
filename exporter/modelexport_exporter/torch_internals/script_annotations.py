"""Drop annotations that torch.jit.script cannot read while it compiles.

`-> tuple[Tensor, ...]` and `-> object` are valid Python, but the compilation fails. Without them
the compiler infers what a function returns, and assumes that a parameter is a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch.jit.frontend

_UNKNOWN = frozenset({"Any", "Iterable", "Iterator", "Mapping", "Self", "Sequence", "object"})
_build_def = torch.jit.frontend.build_def


@contextmanager
def drop_unreadable_annotations() -> Iterator[None]:
    """Let torch.jit.script see only annotations that it has a type for."""
    with patch.object(torch.jit.frontend, "build_def", _build_readable):
        yield


def _build_readable(
    context: Any,  # noqa: ANN401
    definition: Any,  # noqa: ANN401
    *options: Any,  # noqa: ANN401
    **named: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    if _unreadable(getattr(definition, "returns", None)):
        definition.returns = None
    for argument in definition.args.args:
        if _unreadable(argument.annotation):
            argument.annotation = None
    return _build_def(context, definition, *options, **named)  # type: ignore[no-untyped-call]


def _unreadable(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(
        (isinstance(node, ast.Constant) and node.value is Ellipsis)
        or (isinstance(node, ast.Name) and node.id in _UNKNOWN)
        or (isinstance(node, ast.Attribute) and node.attr in _UNKNOWN)
        for node in ast.walk(annotation)
    )
