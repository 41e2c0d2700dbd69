"""Sums of products whose operands have different numbers of dims behind their ellipses."""

from __future__ import annotations

import functools
import string
from collections.abc import Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Einstein sums", __doc__)

_ELLIPSIS = "..."


def _terms(equation: str) -> tuple[list[str], str | None]:
    """Return the subscripts of each operand, and of the result where they are given."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    return left.split(","), right if arrow else None


def _applies(equation: str, operands: Sequence[Tensor], **_: object) -> bool:
    given, result = _terms(equation)
    if len({x.dtype for x in operands}) > 1:
        return True
    return result is not None and len(_counts(given, operands)) > 1


def _counts(given: Sequence[str], operands: Sequence[Tensor]) -> set[int]:
    """Return how many dims ellipses stand for."""
    return {_count(term, x) for term, x in zip(given, operands, strict=True) if _ELLIPSIS in term}


def _count(term: str, x: Tensor) -> int:
    return x.dim() - len(term.replace(_ELLIPSIS, ""))


@FAMILY.decomposes(
    "aten::einsum",
    defect="onnxruntime's Einsum refuses ellipses of different numbers of dims, and mixed dtypes",
    method="the same with a letter for each of these dims, of one dtype",
    applies=_applies,
)
def einsum(equation: str, operands: Sequence[Tensor], *, path: object = None) -> Tensor:
    given, result = _terms(equation)
    dtype = functools.reduce(torch.promote_types, [x.dtype for x in operands])
    operands = [x.to(dtype) for x in operands]
    if result is None:
        return torch.einsum(equation, operands)
    most = max(_counts(given, operands), default=0)
    free = "".join(letter for letter in string.ascii_letters if letter not in equation)[:most]
    terms: list[str] = []
    sizes: dict[str, int] = {}
    for term, x in zip(given, operands, strict=True):
        own = free[most - _count(term, x) :] if _ELLIPSIS in term else ""
        terms.append(term.replace(_ELLIPSIS, own))
        # A dim of one element is repeated along those of the other operands.
        for letter, size in zip(terms[-1], x.shape, strict=True):
            if letter in own and (letter not in sizes or _is_one(sizes[letter])):
                sizes[letter] = size
    wide = [
        x.expand([sizes.get(letter, size) for letter, size in zip(term, x.shape, strict=True)])
        for term, x in zip(terms, operands, strict=True)
    ]
    return torch.einsum(f"{','.join(terms)}->{result.replace(_ELLIPSIS, free)}", wide)


def _is_one(size: int) -> bool:
    return type(size) is int and size == 1
