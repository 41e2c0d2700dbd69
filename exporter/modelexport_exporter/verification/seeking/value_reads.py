"""The values that Python reads from tensors while a model runs, and how to replace one of them.

Only the first value of a place is replaced: a loop whose condition is always true does not end.
"""

from __future__ import annotations

import dis
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import CodeType, FrameType
from typing import Any

import numpy as np
import torch

from modelexport_exporter.torch_internals.call_mode import CallMode, call_name
from modelexport_exporter.verification.numerics.integer_arithmetic import Provenance
from modelexport_exporter.verification.samples.code_constants import numbers_of_code
from modelexport_exporter.verification.seeking.jumps import Jump, model_frame

READING = frozenset(
    {
        "__bool__", "__int__", "__float__", "__index__", "__contains__", "__array__",
        "item", "tolist", "numpy", "is_nonzero", "equal", "allclose",
    }
)  # fmt: skip
"""Functions and methods of torch that return Python values, or numpy's."""
RETURNING_ANYTHING = frozenset({"item", "tolist"})
"""Those of which Python does not check what they return."""
FIXED = (0, 1, -1, 1_000_000, -1_000_000)
NOT_FINITE = (math.nan, math.inf)
_UNITS = 2
"""Bytes of an instruction, and of an entry of its cache."""
MOST = 24
"""Other values of a number that are tried."""
NAMED = 10
"""Numbers of the function that are among them, with their neighbours."""


@dataclass(frozen=True)
class Site:
    """An instruction of the model's code that reads a value."""

    code: CodeType
    offset: int

    @property
    def line(self) -> int:
        """Return its line in the file."""
        return Jump(self.code, self.offset).line


@dataclass(frozen=True)
class Replacement:
    """What a site reads in place of its value: a number, or the opposite of a boolean."""

    site: Site
    value: float | None = None
    """None: the opposite."""
    useless: bool = False
    """Whether it reads what can only be written as text instead."""


class Useless:
    """Stands for a number, and raises where it is used as one; logs may write it as text."""

    def __eq__(self, other: object) -> bool:
        raise TypeError

    def __hash__(self) -> int:
        raise TypeError

    def __bool__(self) -> bool:
        raise TypeError

    def __format__(self, spec: str) -> str:
        return "?"


def _site_of(frame: FrameType) -> Site:
    """Return the place of the instruction that runs.

    Python 3.11 has two for a call, PRECALL and CALL, and leaves out the second once the code is
    warm: both are the second.
    """
    code, offset = frame.f_code, frame.f_lasti
    opcode = code.co_code[offset]
    if dis.opname[opcode] == "PRECALL":
        offset += _UNITS * (1 + dis._inline_cache_entries[opcode])  # type: ignore[attr-defined]  # noqa: SLF001
    return Site(code, offset)


class ValueReads(CallMode):
    """Notes each call of torch, and each value that is read; replaces those of one site."""

    def __init__(self, replacement: Replacement | None = None) -> None:
        super().__init__()
        self._replacement = replacement
        self._replaced = False
        self.read: dict[Site, Any] = {}
        """The first value of each site."""
        self.calls: list[str] = []
        """Names of all functions of torch, in order."""

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the function; note, or replace, the Python value that it returns."""
        result = func(*args, **kwargs)
        name = call_name(func)
        self.calls.append(name)
        if name not in READING or isinstance(result, torch.Tensor):
            return result
        frame = model_frame()
        if frame is None:
            return result
        site = _site_of(frame)
        self.read.setdefault(site, result)
        if self._replacement is None or site != self._replacement.site or self._replaced:
            return result
        self._replaced = True
        if self._replacement.useless:
            return _useless(result) if name in RETURNING_ANYTHING else result
        return _replaced(result, self._replacement.value)


def replacements(site: Site, value: Any) -> Iterator[Replacement]:  # noqa: ANN401
    """Yield what to read in place of a value, the likeliest to matter first."""
    sample = value
    while isinstance(sample, list) and sample:
        sample = sample[0]
    if isinstance(sample, np.ndarray):
        sample = sample.reshape(-1)[0].item() if sample.size else None
    if isinstance(sample, bool):
        yield Replacement(site)
    elif isinstance(sample, int | float):
        odd = NOT_FINITE if isinstance(sample, float) else ()
        named = _near(islice(numbers_of_code(site.code), NAMED))
        numbers = [*FIXED, sample + 1, sample - 1, *named, -sample, *odd]
        for number in list(dict.fromkeys(numbers))[:MOST]:
            if number != sample:
                yield Replacement(site, number)


def _near(numbers: Iterable[float]) -> list[float]:
    return [number + step for number in numbers for step in (0, 1, -1)]


def _useless(value: Any) -> Any:  # noqa: ANN401
    return [_useless(entry) for entry in value] if isinstance(value, list) else Useless()


def _replaced(value: Any, number: float | None) -> Any:  # noqa: ANN401
    """Return a value of the same structure with another number in each place."""
    if isinstance(value, list):
        return [_replaced(entry, number) for entry in value]
    if isinstance(value, np.ndarray):
        return np.logical_not(value) if number is None else _filled(value, number)
    if number is None:
        return not value
    if isinstance(value, bool):
        return bool(number)
    whole = isinstance(value, int) and math.isfinite(number)
    return int(number) if whole else type(value)(number)


def _filled(array: np.ndarray[Any, Any], number: float) -> np.ndarray[Any, Any]:
    with np.errstate(invalid="ignore"):
        return np.full_like(array, np.asarray(number).astype(array.dtype))


class DependentReads(CallMode):
    """Notes the places that read a value, and whether it depends on inputs: weights never do."""

    def __init__(self, provenance: Provenance) -> None:
        """`provenance` is active in the same run."""
        super().__init__()
        self._provenance = provenance
        self.found: set[Site] = set()
        self.constant: set[Site] = set()

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the function; note its place if it reads a value."""
        if call_name(func) in READING and (frame := model_frame()) is not None:
            tensors = (entry for entry in args if isinstance(entry, torch.Tensor))
            depends = any(self._provenance.of(tensor) for tensor in tensors)
            (self.found if depends else self.constant).add(_site_of(frame))
        return func(*args, **kwargs)


def reads_of(
    inputs: Mapping[str, torch.Tensor], call: Callable[[], object]
) -> tuple[frozenset[Site], frozenset[Site]]:
    """Return the places where `call` reads what depends on inputs, and those of constants.

    The latter: only in lines that read nothing of an input.
    """
    provenance = Provenance(inputs)
    reads = DependentReads(provenance)
    with torch.no_grad(), provenance, reads:
        call()
    lines = {(site.code, site.line) for site in reads.found}
    constant = (site for site in reads.constant if (site.code, site.line) not in lines)
    return frozenset(reads.found), frozenset(constant)
