"""Which argument of an ATen operator belongs to which parameter of a symbolic function.

torch calls symbolic functions by position and fails when an operator has grown arguments since
the function was written; in 2018 it called them by keyword, so that their order was free. Here a
call that binds by position stays as it is, and names decide where it would not bind.
Pure: knows nothing of graphs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_SYNONYMS = {"input": "self"}
"""What VariableType.h called an argument -> what the schema calls it."""
_NEVER_AN_ARGUMENT = frozenset({"inplace"})


@dataclass(frozen=True)
class Signature:
    """The parameters of a symbolic function after the graph."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    takes_any: bool = False
    """Whether it has *args."""
    takes_context: bool = False
    """Whether a SymbolicContext comes before the graph, as in torch 1.11 and 1.12."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return all parameters, in order."""
        return self.required + self.optional


@dataclass(frozen=True)
class Binding:
    """How a symbolic function is called."""

    positions: tuple[int, ...]
    """Arguments of the operator that are passed by position."""
    keywords: dict[str, int]
    """Arguments that are passed by the name of the parameter."""
    adapted: bool
    """Whether torch would have called it differently."""


def read_signature(function: Callable[..., Any]) -> Signature | None:
    """Return what the function takes; None if Python does not know."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    takes_context = bool(parameters) and _is_context(parameters[0])
    parameters = parameters[2:] if takes_context else parameters[1:]
    by_position = [entry for entry in parameters if entry.kind in _BY_POSITION]
    return Signature(
        required=tuple(entry.name for entry in by_position if entry.default is entry.empty),
        optional=tuple(entry.name for entry in by_position if entry.default is not entry.empty),
        takes_any=any(entry.kind is entry.VAR_POSITIONAL for entry in parameters),
        takes_context=takes_context,
    )


_BY_POSITION = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}


def _is_context(parameter: inspect.Parameter) -> bool:
    return parameter.name == "ctx" or "SymbolicContext" in str(parameter.annotation)


def bind(signature: Signature, arguments: Sequence[str]) -> Binding | None:
    """Return how to pass the operator's arguments; None where a parameter has no argument."""
    as_they_are = Binding(tuple(range(len(arguments))), {}, adapted=False)
    if signature.takes_any:
        return as_they_are
    named = _by_name(signature, arguments)
    fits = len(signature.required) <= len(arguments) <= len(signature.names)
    if fits and not _is_permuted(signature, named):
        return as_they_are
    keywords = dict(named)
    free = [index for index in range(len(arguments)) if index not in named.values()]
    for name in signature.required:
        if name in keywords:
            continue
        if not free:
            return None
        own = signature.names.index(name)
        keywords[name] = own if own in free else free[0]
        free.remove(keywords[name])
    return Binding((), keywords, adapted=True)


def _by_name(signature: Signature, arguments: Sequence[str]) -> dict[str, int]:
    known = {_plain(name): index for index, name in enumerate(arguments)}
    return {
        name: known[_plain(name)]
        for name in signature.names
        if _plain(name) in known and name not in _NEVER_AN_ARGUMENT
    }


def _is_permuted(signature: Signature, named: dict[str, int]) -> bool:
    """Return whether every parameter has a name of the schema, in another order."""
    positions = [named[name] for name in signature.required if name in named]
    complete = len(positions) == len(signature.required)
    return complete and positions != sorted(positions)


def _plain(name: str) -> str:
    return _SYNONYMS.get(name, name)
