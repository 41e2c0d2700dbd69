"""Extensions of lists in functions that torch.jit.script compiles: the same as in Python."""

# mypy: ignore-errors

from __future__ import annotations

import pytest
import torch

from modelexport_exporter.torch_internals.script_annotations import readable_signatures
from unit.exporter.torch_internals.compiled import compiled_as_python


def of_tensors(x):  # noqa: ANN001
    parts, others = [], []
    for i in range(x.shape[0]):
        parts.append(x[i] * i)
        others.append(-x[i])
    parts.extend(others)
    parts.extend([x[0], x[-1] * 2])
    for i in range(x.shape[0]):
        parts.extend([x[i]])
    return torch.stack(parts)


def of_sizes(x):  # noqa: ANN001
    shape = [x.shape[0], 1]
    shape.extend(x.shape[1:])
    return x.reshape(shape)


def for_its_caller(x, parts: list[torch.Tensor]):  # noqa: ANN001
    parts.extend([x])
    return torch.stack(parts)


@pytest.mark.parametrize("function", [of_tensors, of_sizes])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_as_python(function, size: int) -> None:  # noqa: ANN001
    script = compiled_as_python(function, size)
    assert "aten::extend" not in str(script.graph)


def test_a_list_of_the_caller_is_left_alone() -> None:
    with readable_signatures({}):
        script = torch.jit.script(for_its_caller)
    assert "aten::extend" in str(script.graph)
