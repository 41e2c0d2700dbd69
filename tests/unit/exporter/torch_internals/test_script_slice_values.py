"""Slices in variables, in functions that torch.jit.script compiles: the same as in Python."""

# mypy: ignore-errors

from __future__ import annotations

import pytest
import torch

from modelexport_exporter.torch_internals.script_annotations import readable_signatures
from unit.exporter.torch_internals.compiled import compiled_as_python


def in_a_loop(x):  # noqa: ANN001
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        rows, columns = slice(i, i + 2), slice(0, 2)
        out[rows, columns] += x[rows, columns] * i
    return out


def alone(x):  # noqa: ANN001
    rows = slice(1, x.shape[0])
    every = slice(0, 3, 2)
    return x[rows] * 2, x[..., every], x[rows, every]


def written_in_place(x):  # noqa: ANN001
    return x[slice(1, 3)], x[:, slice(0, 3, 2)]


def beside_others(x):  # noqa: ANN001
    rows, factor = slice(1, 3), x.shape[1]
    return x[rows] * factor


def chosen(x):  # noqa: ANN001
    if x.shape[0] > 3:  # noqa: SIM108 - as users write it
        rows = slice(0, 2)
    else:
        rows = slice(1, 2)
    return x[rows]


@pytest.mark.parametrize(
    "function",
    [in_a_loop, alone, written_in_place, beside_others, chosen],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("size", [2, 5])
def test_slices_are_those_of_python(function, size):  # noqa: ANN001
    compiled_as_python(function, size)


def passed_on(x):  # noqa: ANN001
    rows = slice(1, 3)
    return torch.stack([x[rows], torch.tensor(float(str(rows) == ""))])


def of_two_lengths(x):  # noqa: ANN001
    rows = slice(0, 2)
    if x.shape[0] > 3:
        rows = slice(0, 4, 2)
    return x[rows]


def beside_an_element(x):  # noqa: ANN001
    sizes = [0, 0]
    rows, sizes[0] = slice(1, 3), 2
    return x[rows] * sizes[0]


@pytest.mark.parametrize(
    "function", [passed_on, of_two_lengths, beside_an_element], ids=lambda f: f.__name__
)
def test_other_slices_are_refused_as_before(function):  # noqa: ANN001
    with readable_signatures({}), pytest.raises(RuntimeError, match="slice"):
        torch.jit.script(function)
