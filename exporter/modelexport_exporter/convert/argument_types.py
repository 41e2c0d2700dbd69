"""The types of what the functions of a model are called with, seen while the model runs.

torch.jit.script assumes that a parameter without annotation is a tensor, also `n` of
`def frames(x, n)`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import torch

from modelexport_exporter.torch_internals.script_annotations import Function

Types = dict[Function, dict[str, str]]
"""Annotations of TorchScript, by function and parameter."""
_NONE = "None"
_TORCH = str(Path(torch.__file__).parent)


def argument_types(run: Callable[[], object]) -> Types:
    """Return the types of the arguments of all calls that `run` makes, but for calls of torch's.

    A parameter that takes arguments of several types is left out; None makes a type Optional.
    """
    seen: defaultdict[Function, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_filename.startswith((_TORCH, "<")):
            return
        own = seen[Function(code.co_filename, code.co_firstlineno, code.co_name)]
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            if name in frame.f_locals:
                own[name].add(type_of(frame.f_locals[name]))

    with _watching(note):
        run()
    return {
        function: {name: kind for name, kinds in own.items() if (kind := _common(kinds))}
        for function, own in seen.items()
    }


@contextmanager
def _watching(note: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def _common(kinds: set[str]) -> str:
    """Return an annotation for all of these types; empty if there is none."""
    some = kinds - {_NONE}
    if not some:
        return "Optional[Tensor]"
    if len(some) > 1:
        return ""
    (kind,) = some
    return f"Optional[{kind}]" if kind and _NONE in kinds else kind


def type_of(value: object) -> str:
    """Return an annotation of TorchScript; empty for what it has no type for."""
    if value is None:
        return _NONE
    if isinstance(value, torch.Tensor):
        return "Tensor"
    if type(value) in {bool, int, float, str}:
        return type(value).__name__
    return _type_of_container(value)


def _type_of_container(value: object) -> str:
    if type(value) is tuple:
        parts = [type_of(part) for part in value]
        return f"Tuple[{', '.join(parts)}]" if parts and all(parts) else ""
    if type(value) is list and value:
        return f"List[{kind}]" if (kind := type_of(value[0])) else ""
    if type(value) is dict and value:
        key, first = next(iter(value.items()))
        kind = type_of(first)
        return f"Dict[{type(key).__name__}, {kind}]" if kind else ""
    return ""
