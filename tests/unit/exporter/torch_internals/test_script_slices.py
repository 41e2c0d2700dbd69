"""Slices of lists in functions that torch.jit.script compiles: the same as in Python."""

# mypy: ignore-errors

from __future__ import annotations

import pytest
import torch

from modelexport_exporter.torch_internals.script_annotations import readable_signatures
from unit.exporter.torch_internals.compiled import compiled_as_python


def of_a_list(x):  # noqa: ANN001
    last, parts = x[-1], []
    for i in range(x.shape[0]):
        parts.append(x[i] * i)  # noqa: PERF401 - as users write it
    parts.append(last)
    chosen = parts[1:] + parts[:-1] + parts[-2:] + parts[:3] + parts[::2] + parts[:]
    for part in parts[1:-1]:
        chosen.append(part * 0.5)
    return torch.stack(chosen[::-1] + [x[0]])  # noqa: RUF005


def of_tensors(x):  # noqa: ANN001
    parts = [x]
    parts.append(x[1:])
    rows = x[:-1]
    return torch.cat(parts + [rows])  # noqa: RUF005


def of_sizes(x):  # noqa: ANN001
    shape = x.shape[:-1]
    return x.reshape(shape[0], -1)


def of_bounds_of_its_own(x, n: int):  # noqa: ANN001
    parts = [x]
    for i in range(3):
        parts.append(x + i)  # noqa: PERF401
    return torch.stack(parts[n:])


@pytest.mark.parametrize("function", [of_a_list, of_tensors, of_sizes])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_as_python(function, size: int) -> None:  # noqa: ANN001
    compiled_as_python(function, size)


def test_a_bound_that_is_computed_is_left_to_the_compiler() -> None:
    with readable_signatures({}):
        script = torch.jit.script(of_bounds_of_its_own)
    assert "aten::slice" in str(script.graph)
    assert torch.equal(script(torch.zeros(2), 1), of_bounds_of_its_own(torch.zeros(2), 1))
