"""Inputs that a capture makes constant are no inputs that the manifest declares wrongly."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import nn

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.convert.program_dims import check_numbers_kept, symbol_names
from modelexport_exporter.core.errors import ExportFailure


class Repeated(nn.Module):
    def forward(self, x: torch.Tensor, k: int, scale: torch.Tensor | None = None) -> torch.Tensor:
        for _ in range(k):
            x = x * 2
        return x if scale is None else x * scale


def spec_with(*inputs: Mapping[str, object]) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "s3://models/m.pt"},
            "model": {"factory": "m:M"},
            "destination": {"uri": "s3://models/out/"},
            "inputs": list(inputs),
        }
    )


X = {"name": "x", "shape": [3]}


def test_a_number_that_the_graph_keeps() -> None:
    program = torch.export.export(Repeated(), (torch.ones(3), 2))
    spec = spec_with(X, {"name": "k", "kind": "Int", "range": [0, 20]})
    with pytest.raises(
        ExportFailure, match=r"input k: .* keeps the one of the capture, 2"
    ) as caught:
        check_numbers_kept(program, spec)
    assert caught.value.reason is Reason.CAPTURE_FAILED


def test_inputs_that_are_not_given_are_no_numbers() -> None:
    program = torch.export.export(Repeated(), (torch.ones(3), 0, torch.ones(3)))
    check_numbers_kept(program, spec_with(X, {"name": "scale", "shape": [3]}))


class Gaps(nn.Module):
    def forward(self, x: torch.Tensor, gaps: torch.Tensor) -> torch.Tensor:
        return (x[1:] - x[:-1]) / gaps


class OnlyGaps(nn.Module):
    def forward(self, gaps: torch.Tensor) -> torch.Tensor:
        return gaps * 2


def with_dims(*inputs: Mapping[str, object]) -> ModelExportSpec:
    dims = {"n": {"min": 2, "max": 9}}
    return ModelExportSpec.model_validate({**spec_with(*inputs).to_wire(), "dims": dims})


N, ONE_LESS = {"name": "x", "shape": ["n"]}, {"name": "gaps", "shape": ["n - 1"]}


@pytest.mark.parametrize(
    ("module", "inputs"), [(Gaps(), [N, ONE_LESS]), (OnlyGaps(), [ONE_LESS])], ids=["both", "one"]
)
def test_a_size_that_follows_from_a_dim(
    module: nn.Module, inputs: list[Mapping[str, object]]
) -> None:
    bound = bind_inputs(with_dims(*inputs), module, None)
    args, _ = bound.call.example(bound.sizes.captured)
    shapes = bound.call.dynamic_shapes(module.forward)
    program = torch.export.export(module, tuple(args), dynamic_shapes=shapes)
    names = symbol_names(program, bound.spec)
    assert list(names.values()) == ["n - 1"]


def test_a_size_that_follows_otherwise() -> None:
    bound = bind_inputs(with_dims(N, ONE_LESS), Gaps(), None)
    args, _ = bound.call.example(bound.sizes.captured)
    shapes = bound.call.dynamic_shapes(Gaps().forward)
    program = torch.export.export(Gaps(), tuple(args), dynamic_shapes=shapes)
    other = with_dims(N, {"name": "gaps", "shape": ["n - 2"]})
    with pytest.raises(ExportFailure, match=r"gaps dim 0 \(n - 2\): requested 0..7, got 1..8"):
        symbol_names(program, other)


def test_a_size_below_zero_is_refused() -> None:
    with pytest.raises(ExportFailure, match=r"gaps: n - 3 is -1 at n=2") as raised:
        bind_inputs(with_dims(N, {"name": "gaps", "shape": ["n - 3"]}), Gaps(), None)
    assert raised.value.hint == "Set dims.n.min: 3 or more."


class Masked(nn.Module):
    def forward(self, past: torch.Tensor, new: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.cat([past, new]) * mask


class Apart(nn.Module):
    def forward(self, past: torch.Tensor, new: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return past.sum() + new.sum() + mask.sum()


def sums(mask: str = "past + new", past: int = 9) -> ModelExportSpec:
    shapes = {"past": "past", "new": "new", "mask": mask}
    wire = spec_with(*({"name": name, "shape": [size]} for name, size in shapes.items())).to_wire()
    dims = {"past": {"min": 1, "max": past}, "new": {"min": 1, "max": 9}}
    return ModelExportSpec.model_validate({**wire, "dims": dims})


def named(module: nn.Module, spec: ModelExportSpec, other: ModelExportSpec | None = None) -> object:
    bound = bind_inputs(spec, module, None)
    args, _ = bound.call.example(bound.sizes.captured)
    shapes = bound.call.dynamic_shapes(module.forward)
    program = torch.export.export(module, tuple(args), dynamic_shapes=shapes)
    return sorted(symbol_names(program, other or bound.spec).values())


def test_a_sum_of_dims() -> None:
    """The program has it as a sum, or a symbol of its own where it never meets the others."""
    assert named(Masked(), sums()) == ["new", "past"]
    assert named(Apart(), sums()) == ["new", "past", "past + new"]
    assert named(Masked(), sums(past=1)) == ["new"]


def test_a_sum_that_is_another() -> None:
    with pytest.raises(
        ExportFailure, match=r"got only sizes of the form .*(past \+ new|new \+ past)"
    ):
        named(Masked(), sums(), sums("past + new + 1"))
