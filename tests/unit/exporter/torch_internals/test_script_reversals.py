"""Reversals in functions that torch.jit.script compiles: the same as in Python."""

# mypy: ignore-errors

from __future__ import annotations

import pytest
import torch

from modelexport_exporter.torch_internals.script_annotations import readable_signatures
from unit.exporter.torch_internals.compiled import compiled_as_python


def from_the_last(x):  # noqa: ANN001
    parts = []
    for i in range(x.shape[0]):
        parts.append(x[i] * i)  # noqa: PERF401 - as users write it
    sums = [x[0]]
    for part in reversed(parts):
        for other in reversed(parts):
            sums.append(sums[-1] * 0.5 + part - other)
    sums.reverse()
    return torch.stack(sums)


def of_ranges(x):  # noqa: ANN001
    y = x[0]
    for i in reversed(range(x.shape[0])):
        y = y * 0.5 + x[i]
    for i in reversed(range(1, x.shape[0])):
        y = y * 2 - x[i]
    return y


def as_values(x):  # noqa: ANN001
    parts = []
    for i in range(x.shape[0]):
        parts.append(x[i] * i)  # noqa: PERF401 - as users write it
    backwards = list(reversed(parts))
    halves = [part * 0.5 for part in reversed(parts)]
    y = torch.stack(list(reversed(halves)) + backwards).sum(0)
    for i, part in enumerate(reversed(parts)):
        y = y * 0.5 + part * i
    for one, other in zip(parts, reversed(parts)):  # noqa: B905 - the compiler takes no options
        y = y + one * other
    return y


def of_a_list_that_changes_by_number(x):  # noqa: ANN001
    parts = [x, x + 1]
    for _, part in enumerate(reversed(parts)):
        parts.append(part)
    return torch.stack(parts)


def of_a_list_that_changes(x):  # noqa: ANN001
    parts = [x, x + 1]
    for part in reversed(parts):
        parts.append(part)  # noqa: PERF402
    return torch.stack(parts)


def reversing_for_its_caller(x, parts: list[torch.Tensor]):  # noqa: ANN001
    parts.reverse()
    return x + parts[0]


@pytest.mark.parametrize("function", [from_the_last, of_ranges, as_values])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_as_python(function, size: int) -> None:  # noqa: ANN001
    compiled_as_python(function, size)


@pytest.mark.parametrize("function", [of_a_list_that_changes, of_a_list_that_changes_by_number])
def test_a_list_that_the_loop_changes_is_left_alone(function) -> None:  # noqa: ANN001
    with readable_signatures({}), pytest.raises(Exception, match="reversed"):
        torch.jit.script(function)


def test_a_list_of_the_caller_is_reversed_for_it() -> None:
    with readable_signatures({}):
        script = torch.jit.script(reversing_for_its_caller)
    parts = [torch.zeros(2), torch.ones(2)]
    assert torch.equal(script(torch.zeros(2), parts), torch.ones(2))
