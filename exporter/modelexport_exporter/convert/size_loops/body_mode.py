"""Calls of torch in the body of a loop: what it reads from outside, and takes as an input instead.

A graph for one step can read nothing of the graph around it except its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from modelexport_exporter.convert.size_loops import indexing
from modelexport_exporter.torch_internals.call_mode import CallMode
from modelexport_exporter.torch_internals.pytree import tensors_in, tree_map


class Reading(CallMode):
    """Notes the tensors of the outside that are read."""

    def __init__(self, own: Sequence[Tensor]) -> None:
        super().__init__()
        self._own = {id(one): one for one in own}
        self.read: dict[int, Tensor] = {}
        """By identity, in order."""
        self.used: set[int] = set()
        """The identities of its own that are used."""

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Note the tensors among the arguments, and make the call."""
        for one in tensors_in((args, kwargs)):
            if id(one) in self._own:
                self.used.add(id(one))
            else:
                self.read[id(one)] = one
        result = indexing.CALLS.get(func, func)(*args, **kwargs)
        self.note_made(tensors_in(result))
        return result

    def note_made(self, tensors: Sequence[Tensor]) -> None:
        """Note tensors that the body makes."""
        self._own.update((id(one), one) for one in tensors)


class _Putting(CallMode):
    """Puts inputs in place of the tensors of the outside."""

    def __init__(self, inputs: Mapping[int, Any], place: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.inputs, self.place = inputs, place

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        args, kwargs = tree_map(self._put, (args, kwargs))
        return indexing.CALLS.get(func, func)(*args, **kwargs)

    def _put(self, value: Any) -> Any:  # noqa: ANN401
        return self.inputs.get(id(value), value) if isinstance(value, Tensor) else value


_READING: list[Reading] = []
_PUTTING: list[_Putting] = []


@contextmanager
def reading(own: Sequence[Tensor]) -> Iterator[Reading]:
    """Note what the block reads, except tensors of its own and those that it makes."""
    mode = Reading(own)
    _READING.append(mode)
    try:
        with mode:
            yield mode
    finally:
        _READING.pop()


@contextmanager
def putting(inputs: Mapping[int, Any], place: Any) -> Iterator[None]:  # noqa: ANN401
    """Let the block use these inputs, by the identity of the tensors in whose place they are.

    `place`: the number of the step.
    """
    mode = _Putting(inputs, place)
    _PUTTING.append(mode)
    try:
        with mode:
            yield
    finally:
        _PUTTING.pop()


def as_put(tensor: Tensor) -> Any:  # noqa: ANN401
    """Return what the innermost block uses in place of a tensor."""
    for mode in reversed(_PUTTING):
        if id(tensor) in mode.inputs:
            return mode.inputs[id(tensor)]
    return tensor


def note_made(tensors: Sequence[Tensor]) -> None:
    """Let the blocks around know that these tensors are made within them."""
    for mode in _READING:
        mode.note_made(tensors)


def places_around() -> list[Any]:
    """Return the numbers of the steps of the loops around."""
    return [mode.place for mode in _PUTTING]
