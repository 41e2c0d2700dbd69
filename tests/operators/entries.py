"""torch's database of its operators (`op_db`): calls with sample inputs, as text and as tensors.

Each entry draws its own samples: the same structures each time, other values with another seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from operators.growing import Dynamic
from operators.results import Case
from operators.text import CannotBeWrittenError, name_of, text_of

MOST_ELEMENTS = 50_000
"""Elements of a sample's tensors."""
MOST_SAMPLES = 48
"""Of an entry in a dtype, spread over those that are drawn."""
MOST_DRAWN = 256
"""Of an entry: the first fifty may all be without an element (`unfold`)."""
Found = TypeVar("Found")
DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
)


def spread(found: Sequence[Found], most: int) -> Sequence[Found]:
    """Return so many of them, from the first to the last."""
    if len(found) <= most:
        return found
    return [found[place * (len(found) - 1) // (most - 1)] for place in range(most)]


@dataclass(frozen=True, slots=True)
class Call:
    """A sample of an entry."""

    case: Case
    place: int
    """Among the samples of the entry."""
    text: str
    """The call in Python, its tensors as `x0`, `x1`, …"""
    tensors: tuple[torch.Tensor, ...]
    dynamic: Dynamic | None = None
    """A dim that has several sizes."""
    complex: bool = False
    """Whether it returns complex numbers: the module returns their parts."""


@cache
def entries() -> Mapping[str, Any]:
    """Return the entries by their full names."""
    return {entry.full_name: entry for entry in op_db}


def cases(names: Sequence[str] = ()) -> Iterator[Case]:
    """Yield entries in all of their dtypes, and in float32 with a dynamic dim."""
    for name, entry in entries().items():
        if names and name not in names:
            continue
        known = entry.supported_dtypes("cpu")
        yield from (Case(name, _short(dtype)) for dtype in DTYPES if dtype in known)
        if torch.float32 in known:
            yield Case(name, "float32", dynamic=True)


def operator(name: str) -> Any:  # noqa: ANN401
    """Return the callable of an entry."""
    return entries()[name].op


def draw(case: Case, seed: int) -> list[Any]:
    """Return the samples of an entry, drawn with a seed."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    dtype, entry = getattr(torch, case.dtype), entries()[case.name]
    # Not by its own `sample_inputs`: that one sets the same seed before each sample.
    drawn = entry.sample_inputs_func(entry, "cpu", dtype, False)
    return [sample for sample, _ in zip(drawn, range(MOST_DRAWN), strict=False)]


@lru_cache(maxsize=256)
def calls(case: Case, seed: int) -> list[Call]:
    """Return the calls that a module can make, drawn with a seed."""
    found = []
    for place, sample in enumerate(draw(case, seed)):
        tensors: list[torch.Tensor] = []
        try:
            args = [text_of(value, tensors) for value in (sample.input, *sample.args)]
            named = [f"{key}={text_of(value, tensors)}" for key, value in sample.kwargs.items()]
        except CannotBeWrittenError:
            continue
        if tensors and sum(tensor.numel() for tensor in tensors) <= MOST_ELEMENTS:
            text = f"{name_of(operator(case.name))}({', '.join([*args, *named])})"
            found.append(Call(case, place, text, tuple(tensors)))
    return found


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
