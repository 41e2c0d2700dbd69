"""Nested names to nested values: `cache.0.key` is the key of the first element of `cache`.

Numbers are places in a list or tuple, other names are keys of a dict. Which container it is, an
annotation says (list, tuple, NamedTuple, dict, dataclass); without one it is a tuple or a dict.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from inspect import Parameter
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.call.call import Constant
from modelexport_exporter.core.errors import ExportFailure

_CONTAINERS: dict[type, tuple[type, ...]] = {
    list: (collections.abc.MutableSequence,),
    tuple: (tuple,),
    dict: (collections.abc.Mapping,),
}
Branch = dict[str, Any]
"""By the next part of the name: another Branch, or what was declared."""


def nest(declared: Iterable[tuple[str, Any]]) -> Branch:
    """Return the tree of the dotted names."""
    root: Branch = {}
    for name, value in declared:
        *path, last = name.split(".")
        if not all((*path, last)):
            raise _contradictory(f"input {name}: a part of its name is empty")
        branch = root
        for depth, part in enumerate(path, start=1):
            branch = branch.setdefault(part, {})
            if not isinstance(branch, dict):
                outer = ".".join(path[:depth])
                raise _contradictory(f"input {outer} is declared as a whole and as {name}")
        if last in branch:
            raise _contradictory(f"input {name} is declared as a whole and in parts")
        branch[last] = value
    return root


def build(value: Any, annotation: Any, name: str) -> Any:  # noqa: ANN401
    """Return what a parameter gets: the value itself, or the containers that its Branch describes.

    `annotation` is the parameter's, `name` the way to it.
    """
    if isinstance(value, Constant):
        return Constant(_as_annotated(value.value, annotation))
    if not isinstance(value, dict):
        return value
    wanted = _container(annotation, numbered=_is_numbered(value))
    if _is_numbered(value) and wanted is not dict:
        return _sequence(value, wanted, annotation, name)
    return _mapping(value, wanted, annotation, name)


def _mapping(value: Branch, wanted: Any, annotation: Any, name: str) -> Any:  # noqa: ANN401
    key_type = _key_type(annotation)
    if key_type is not int:
        _check_keys(value, name)
    hints = _fields(wanted, annotation)
    parts = {key: build(part, hints(key), f"{name}.{key}") for key, part in value.items()}
    if dataclasses.is_dataclass(wanted):
        with suppress(ValueError):  # it is registered already
            torch.export.register_dataclass(typing.cast("type[Any]", wanted))
    if wanted is not dict:
        return wanted(**parts)
    return {int(key): part for key, part in parts.items()} if key_type is int else parts


def _as_annotated(value: Any, annotation: Any) -> Any:  # noqa: ANN401
    """Return a constant in the annotated type: JSON has no tuples, and writes 1.0 as 1."""
    options = _options(annotation)
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if float in options and int not in options else value
    if isinstance(value, dict):
        hint = (_parameters(annotation, collections.abc.Mapping) or (None,))[-1]
        return {key: _as_annotated(part, hint) for key, part in value.items()}
    if isinstance(value, list):
        hints = _elements(tuple, annotation)
        parts = [_as_annotated(part, hint) for part, hint in zip(value, hints, strict=False)]
        origins = [typing.get_origin(option) or option for option in options]
        return tuple(parts) if tuple in origins and list not in origins else parts
    return value


def _sequence(value: Branch, wanted: type, annotation: Any, name: str) -> Any:  # noqa: ANN401
    if len(value) == 1 and "0" not in value:  # `input.1`, a name as older exporters gave it
        ((part, inner),) = value.items()
        return build(inner, annotation, f"{name}.{part}")
    places = sorted(int(part) for part in value)
    if places != list(range(len(value))):
        raise _contradictory(
            f"inputs {', '.join(f'{name}.{place}' for place in places)}: the places in {name} must "
            f"be counted from 0, without a gap"
        )
    kinds = _elements(wanted, annotation)
    parts = [build(value[str(place)], next(kinds), f"{name}.{place}") for place in places]
    if _is_named_tuple(wanted):
        return wanted(*parts)
    return wanted(parts)


def _is_numbered(value: Branch) -> bool:
    return all(part.isdigit() for part in value)


def _check_keys(value: Branch, name: str) -> None:
    for key in value:
        if key.isdigit() and not _is_numbered(value):
            raise _contradictory(
                f"input {name}.{key} is a place in a list, but {name} has parts with names too"
            )


def _container(annotation: Any, *, numbered: bool) -> Any:  # noqa: ANN401
    """Return the class that an annotation names, else the usual one."""
    for option in _options(annotation):
        origin = typing.get_origin(option) or option
        if not isinstance(origin, type):
            continue
        if _is_named_tuple(origin) or (dataclasses.is_dataclass(origin) and not numbered):
            return origin
        for container, names in _CONTAINERS.items():
            if issubclass(origin, names):
                return container
    return tuple if numbered else dict


def _options(annotation: Any) -> Sequence[Any]:  # noqa: ANN401
    """Return the members of a Union, in order; what is no Union is its own only member."""
    if typing.get_origin(annotation) in {typing.Union, types.UnionType}:
        return [part for member in typing.get_args(annotation) for part in _options(member)]
    return [annotation]


def _parameters(annotation: Any, container: type) -> tuple[Any, ...]:  # noqa: ANN401
    for option in _options(annotation):
        origin = typing.get_origin(option)
        if isinstance(origin, type) and typing.get_args(option) and issubclass(origin, container):
            return typing.get_args(option)
    return ()


def _elements(wanted: type, annotation: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the annotation of each element."""
    if _is_named_tuple(wanted):
        yield from typing.get_type_hints(wanted).values()
    arguments = _parameters(annotation, collections.abc.Sequence)
    if issubclass(wanted, tuple) and arguments and arguments[-1] is not Ellipsis:
        yield from arguments
    while True:
        yield arguments[0] if arguments else Parameter.empty


def _fields(wanted: Any, annotation: Any) -> Any:  # noqa: ANN401
    """Return a function from a key to the annotation of what it holds."""
    if dataclasses.is_dataclass(wanted) or _is_named_tuple(wanted):
        hints = typing.get_type_hints(wanted)
        return lambda key: hints.get(key, Parameter.empty)
    arguments = _parameters(annotation, collections.abc.Mapping)
    return lambda _key: arguments[-1] if arguments else Parameter.empty


def _key_type(annotation: Any) -> Any:  # noqa: ANN401
    arguments = _parameters(annotation, collections.abc.Mapping)
    return arguments[0] if arguments else str


def _is_named_tuple(kind: Any) -> bool:  # noqa: ANN401
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _contradictory(message: str) -> ExportFailure:
    return ExportFailure(
        Reason.INVALID_MANIFEST,
        message,
        "A name is either an input or the head of nested ones: cache.0.key is the entry `key` of "
        "the first element of `cache`.",
    )
