"""Building without memory: parameters on meta, everything else real, or not at all."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modelexport_exporter.user_code.meta_build import build_on_meta, seed, stray_meta_tensors
from zoo.code import shapes


def built(factory: type[nn.Module]) -> nn.Module:
    module = build_on_meta(factory)
    assert module is not None
    return module


def test_parameters_are_on_meta_and_the_rest_is_real() -> None:
    module = built(shapes.Positions)
    assert all(parameter.is_meta for parameter in module.parameters())
    assert not any(buffer.is_meta for buffer in module.buffers())


def test_tied_parameters_are_one_object() -> None:
    module = built(shapes.Tied)
    assert len(list(module.parameters())) == 1
    assert len(list(module.named_parameters(remove_duplicate=False))) == 2


def test_parameters_that_die_early_are_not_taken_for_others() -> None:
    def many() -> nn.Module:
        module = nn.Module()
        for index in range(200):
            module.register_parameter(f"w{index}", nn.Parameter(torch.empty(3)))
        return module

    module = build_on_meta(many)
    assert module is not None
    assert len(list(module.parameters())) == 200


@pytest.mark.parametrize("kind", [shapes.ListedWeights])
def test_a_module_with_meta_tensors_elsewhere_is_not_returned(kind: type[nn.Module]) -> None:
    assert build_on_meta(kind) is None


def test_torch_is_as_before_afterwards() -> None:
    before = nn.Module.register_parameter

    def breaks() -> nn.Module:
        raise KeyError

    with pytest.raises(KeyError):
        build_on_meta(breaks)
    assert nn.Module.register_parameter is before
    assert not nn.Linear(2, 2).weight.is_meta


def test_stray_tensors_are_named() -> None:
    module = nn.Module()
    vars(module)["plain"] = [{"deep": torch.empty(1, device="meta")}]
    module.register_buffer("lost", torch.empty(1, device="meta"), persistent=False)
    module.register_buffer("kept", torch.empty(1, device="meta"))
    assert stray_meta_tensors(module) == [".lost", ".plain"]


def test_random_numbers_start_from_one_place() -> None:
    seed()
    first = torch.randn(3)
    seed()
    assert torch.equal(first, torch.randn(3))
