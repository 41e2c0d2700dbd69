"""Signatures that torch.jit.script cannot read, while it compiles.

`-> tuple[Tensor, ...]` and `-> object` are valid Python, but the compilation fails; so it does for
defaults of keyword-only parameters, and for `**kwargs` that nothing reads. Without annotations the
compiler infers what a function returns, and assumes that a parameter is a tensor: others get the
type of what they were called with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

import torch.jit.frontend

from modelexport_exporter.torch_internals.script_casts import cast_by_number
from modelexport_exporter.torch_internals.script_choices import choose_modules
from modelexport_exporter.torch_internals.script_extensions import add_parts
from modelexport_exporter.torch_internals.script_reversals import count_down
from modelexport_exporter.torch_internals.script_slice_values import write_bounds
from modelexport_exporter.torch_internals.script_slices import copy_places
from modelexport_exporter.torch_internals.script_source import expression_at
from modelexport_exporter.torch_internals.script_uniques import call_functions

_UNKNOWN = frozenset({"Any", "Iterable", "Iterator", "Mapping", "Self", "Sequence", "object"})
SCRIPT_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
"""File and line in a message of the compiler."""
_build_def = torch.jit.frontend.build_def


class Function(NamedTuple):
    """A function of Python, by its first line, which may be that of a decorator."""

    file: str
    line: int
    name: str


@contextmanager
def readable_signatures(
    types: Mapping[Function, Mapping[str, str]],
    lists: Mapping[Function, Mapping[str, int]] = MappingProxyType({}),
) -> Iterator[None]:
    """Let torch.jit.script see only signatures that it can read, and calls that it can compile.

    `types`: annotations of TorchScript for parameters that have none, by their names.
    `lists`: how many modules the lists of `self` have, by their names.
    """
    with patch.object(torch.jit.frontend, "build_def", partial(_build_readable, types, lists)):
        yield


def _build_readable(
    types: Mapping[Function, Mapping[str, str]],
    lists: Mapping[Function, Mapping[str, int]],
    context: Any,  # noqa: ANN401
    definition: Any,  # noqa: ANN401
    *options: Any,  # noqa: ANN401
    **named: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    if definition.name == "__exit__":  # its parameters must be Any, as those of no_grad are
        return _build_def(context, definition, *options, **named)  # type: ignore[no-untyped-call]
    if _unreadable(getattr(definition, "returns", None)):
        definition.returns = None
    function = _function(context, definition.name)
    known = types.get(function, {}) if function else {}
    optional = set(_optional(definition.args))
    for parameter in (*definition.args.args, *definition.args.kwonlyargs):
        if _unreadable(parameter.annotation):
            parameter.annotation = None
        kind = known.get(parameter.arg, "")
        if kind and parameter.annotation is None:
            takes_none = parameter.arg in optional and not kind.startswith("Optional")
            text = f"Optional[{kind}]" if takes_none else kind
            parameter.annotation = expression_at(text, parameter)
    _leave_out_what_is_not_needed(definition)
    cast_by_number(definition)
    add_parts(definition)
    count_down(definition)
    copy_places(definition)
    write_bounds(definition)
    call_functions(definition)
    choose_modules(definition, lists.get(function, {}) if function else {})
    return _build_def(context, definition, *options, **named)  # type: ignore[no-untyped-call]


def _function(context: Any, name: str) -> Function | None:  # noqa: ANN401
    """Return which function is compiled: the compiler keeps its place in its messages only."""
    place = SCRIPT_PLACE.search(str(context.make_raw_range(0, 1)))
    return Function(place[1], int(place[2]), name) if place else None


def _optional(signature: ast.arguments) -> Iterator[str]:
    """Yield the parameters that are None by default."""
    defaults = [
        *zip(reversed(signature.args), reversed(signature.defaults), strict=False),
        *zip(signature.kwonlyargs, signature.kw_defaults, strict=True),
    ]
    for parameter, default in defaults:
        if isinstance(default, ast.Constant) and default.value is None:
            yield parameter.arg


def _leave_out_what_is_not_needed(definition: Any) -> None:  # noqa: ANN401
    """Leave out `*args` and `**kwargs` that nothing reads, and defaults that torch reads itself."""
    read = {
        node.id
        for statement in definition.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
    }
    signature = definition.args
    signature.kw_defaults = []
    if signature.vararg is not None and signature.vararg.arg not in read:
        signature.vararg = None
    if signature.kwarg is not None and signature.kwarg.arg not in read:
        signature.kwarg = None


def _unreadable(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(
        (isinstance(node, ast.Constant) and node.value is Ellipsis)
        or (isinstance(node, ast.Name) and node.id in _UNKNOWN)
        or (isinstance(node, ast.Attribute) and node.attr in _UNKNOWN)
        for node in ast.walk(annotation)
    )
