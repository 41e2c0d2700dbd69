"""A translation that reads a size as a number makes it constant, which ends the attempt."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.convert.program_dims import symbol_names
from modelexport_exporter.convert.size_guards import check_sizes_read
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.decompositions.programs import decompose
from modelexport_exporter.torch_internals.symbolic_sizes import Read, sizes_read_as_numbers


class Softened(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.softsign(x)


def reads_the_root(x: torch.Tensor) -> torch.Tensor:
    return x / math.sqrt(x.shape[0])


def reads_one_in_range(x: torch.Tensor) -> torch.Tensor:
    return x / int(x.shape[0] // 100)


def computes_the_root(x: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt(torch.ones(()) * x.shape[0])


def spec(low: int, high: int) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "s3://bucket/model.pt"},
            "model": {"factory": "model:build"},
            "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
            "dims": {"n": {"min": low, "max": high}},
            "destination": {"uri": "s3://bucket/out/"},
        }
    )


def read_by(
    function: Callable[..., Any], low: int, high: int
) -> tuple[Read, dict[str, str], ModelExportSpec]:
    dim = torch.export.Dim("n", min=low, max=high)
    example = torch.ones((low + high) // 2)
    program = torch.export.export(
        Softened(),
        (example,),
        dynamic_shapes=({0: dim},),
        prefer_deferred_runtime_asserts_over_guards=True,
    )
    with sizes_read_as_numbers() as read:
        decompose(program, {torch.ops.aten.abs.default: function})
    own = spec(low, high)
    return read, dict(symbol_names(program, own)), own


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        pytest.param(computes_the_root, 2, 40, id="computed in the graph"),
        pytest.param(reads_one_in_range, 100, 199, id="the same number at all sizes"),
    ],
)
def test_sizes_that_stay_dynamic(function: Callable[..., Any], low: int, high: int) -> None:
    read, names, own = read_by(function, low, high)
    check_sizes_read(read, names, own)


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        pytest.param(reads_the_root, 2, 40, id="math.sqrt"),
        pytest.param(reads_one_in_range, 100, 200, id="another number at one size"),
    ],
)
def test_a_size_that_became_constant(function: Callable[..., Any], low: int, high: int) -> None:
    read, names, own = read_by(function, low, high)
    with pytest.raises(ExportFailure) as failure:
        check_sizes_read(read, names, own)
    assert failure.value.reason is Reason.DYNAMIC_DIM_SPECIALIZED
    assert " at n = " in failure.value.message


def test_sizes_that_torch_reads_to_infer_a_shape_are_not_in_the_graph() -> None:
    """torch unrolls an LSTM for the shape of its result; the graph keeps one node."""
    dim = torch.export.Dim("n", min=2, max=40)
    program = torch.export.export(Softened(), (torch.ones(5),), dynamic_shapes=({0: dim},))
    values = (node.meta.get("val") for node in program.graph.nodes)
    fake = next(value for value in values if isinstance(value, FakeTensor))
    with sizes_read_as_numbers() as read, fake.fake_mode:
        torch.ops.aten.unbind.int(fake, 0)
    assert read == {}
