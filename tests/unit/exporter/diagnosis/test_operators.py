"""All operators without a translation are found, on both routes, wherever they hide."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from modelexport_api.spec import Exporter
from modelexport_api.status import Support, UnsupportedOp
from modelexport_exporter.diagnosis.operators.failure import listed, unsupported_failure
from modelexport_exporter.diagnosis.operators.in_program import find_unsupported
from modelexport_exporter.diagnosis.operators.in_script import (
    find_unsupported_in_script,
    unsupported_in_model,
)
from modelexport_exporter.diagnosis.operators.support import advice_for

HERE = "test_operators.py"


class Inner(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.special.i0e(x) + torch.special.i0e(x + 1)
        return y


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), Inner())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.block(x)
        z: torch.Tensor = torch.linalg.solve(x.T @ x, x.T).T
        return y + z


class TakesMore(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.outer = Outer()

    def forward(
        self, x: torch.Tensor, *, scales: tuple[torch.Tensor, float]
    ) -> dict[str, torch.Tensor | None]:
        return {"y": self.outer(x) * scales[0] * scales[1], "none": None}


class InBranch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chosen: torch.Tensor = torch.cond(
            x.sum() > 0, torch.special.ndtri, torch.special.bessel_j0, (x,)
        )
        return chosen


class Loop(nn.Module):
    def forward(self, x: torch.Tensor, times: int) -> torch.Tensor:
        for _ in range(times):
            x = torch.special.i0e(x)
            if bool(x.sum() > 0):
                x = torch.special.bessel_j0(x)
        return x


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.special.i0e(x)
        return y


class Symbolised(Scaled):
    @staticmethod
    def symbolic(g: Any, x: object) -> object:  # noqa: ANN401
        return g.op("Identity", x)


class UsesFunctions(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first: torch.Tensor = Scaled.apply(x)
        second: torch.Tensor = Symbolised.apply(torch.special.bessel_j0(x))
        return first + second


def by_name(ops: list[UnsupportedOp]) -> dict[str, UnsupportedOp]:
    return {op.name: op for op in ops}


def test_a_program_names_what_the_model_called() -> None:
    program = torch.export.export(Outer(), (torch.rand(4, 3),), strict=False)
    found = by_name(find_unsupported(program, 20))
    assert list(found) == ["aten::special_i0e.default", "aten::linalg_solve.default"]
    bessel = found["aten::special_i0e.default"]
    assert bessel.count == 2
    assert bessel.module == "block.1"
    assert bessel.source.startswith(f"{HERE}:")
    assert found["aten::linalg_solve.default"].count == 1


def test_branches_of_a_program_are_walked() -> None:
    program = torch.export.export(InBranch(), (torch.rand(3),), strict=False)
    assert set(by_name(find_unsupported(program, 20))) == {
        "aten::special_ndtri.default",
        "aten::special_bessel_j0.default",
    }


def test_what_a_plugin_translates_is_not_listed() -> None:
    program = torch.export.export(Inner(), (torch.rand(3),), strict=False)
    target = torch.ops.prims.bessel_i0e.default
    assert find_unsupported(program, 20, translated=[target]) == []


def test_loops_and_branches_of_a_script_are_walked() -> None:
    scripted: Any = torch.jit.script(Loop())
    found = by_name(find_unsupported_in_script(scripted.forward.graph, 18))
    assert set(found) == {"aten::special_i0e.default", "aten::special_bessel_j0.default"}
    assert all(op.source.startswith(f"{HERE}:") for op in found.values())


@pytest.mark.parametrize("way", ["traced", "scripted"])
def test_a_script_names_the_module(way: str) -> None:
    model: Any = (
        torch.jit.trace(Outer(), (torch.rand(4, 3),))  # type: ignore[no-untyped-call]
        if way == "traced"
        else torch.jit.script(Outer())
    )
    found = by_name(find_unsupported_in_script(model.inlined_graph, 18, module=model))
    assert found["aten::special_i0e.default"].module == "block.1"
    assert found["aten::special_i0e.default"].count == 2
    assert found["aten::linalg_solve.default"].module == ""


def test_a_model_is_traced_with_whatever_forward_takes() -> None:
    model = TakesMore()
    kwargs = {"scales": (torch.rand(3), 2.0)}
    found = by_name(unsupported_in_model(model, (torch.rand(4, 3),), kwargs, 18))
    assert found["aten::special_i0e.default"].module == "outer.block.1"
    assert found["aten::linalg_solve.default"].module == "outer"


def test_operators_by_the_names_of_their_symbolic_functions() -> None:
    class Masks(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x > 0).__and__(x < 1).__or__(x > 2).mul_(True)

    assert not unsupported_in_model(Masks(), (torch.rand(3),), {}, 17)


def test_an_autograd_function_with_a_symbolic_is_not_looked_into() -> None:
    traced: Any = torch.jit.trace(UsesFunctions(), (torch.rand(3),))  # type: ignore[no-untyped-call]
    found = by_name(find_unsupported_in_script(traced.inlined_graph, 18))
    assert {name: op.count for name, op in found.items()} == {
        "aten::special_i0e.default": 1,
        "aten::special_bessel_j0.default": 1,
    }


@pytest.mark.parametrize(
    ("name", "route", "opset", "support", "said"),
    [
        ("aten::special_i0e.default", Exporter.DYNAMO, 20, Support.NEEDS_PLUGIN, "--skeleton"),
        ("aten::max_unpool2d.default", Exporter.DYNAMO, 20, Support.STANDARDISED, "MaxUnpool"),
        (
            "aten::linalg_det.default",
            Exporter.TORCH_SCRIPT,
            17,
            Support.STANDARDISED,
            "torch.export",
        ),
        ("aten::grid_sampler.default", Exporter.TORCH_SCRIPT, 9, Support.STANDARDISED, "16"),
        ("aten::bitwise_and.Tensor", Exporter.TORCH_SCRIPT, 17, Support.STANDARDISED, "18"),
        ("aten::histc.default", Exporter.TORCH_SCRIPT, 17, Support.DECOMPOSABLE, "torch.export"),
        ("aten::fft_rfft.default", Exporter.TORCH_SCRIPT, 20, Support.DECOMPOSABLE, "torch.export"),
        ("aten::cumprod.default", Exporter.DYNAMO, 20, Support.STANDARDISED, "newer than"),
        ("mine::fused.default", Exporter.DYNAMO, 20, Support.NEEDS_PLUGIN, "custom operator"),
        ("mine::bias_gelu.default", Exporter.DYNAMO, 20, Support.RUNTIME, "com.microsoft"),
        ("aten::exp.default", Exporter.DYNAMO, 20, Support.NEEDS_PLUGIN, "complex"),
        (
            "quantized::linear_dynamic.default",
            Exporter.TORCH_SCRIPT,
            20,
            Support.NEEDS_PLUGIN,
            "before its conversion",
        ),
        (
            "aten::_nested_tensor_from_tensor_list.default",
            Exporter.DYNAMO,
            20,
            Support.NEEDS_PLUGIN,
            "the padded tensor",
        ),
    ],
)
def test_the_way_out(name: str, route: Exporter, opset: int, support: Support, said: str) -> None:
    way_out = advice_for(route, opset)(name)
    assert way_out.support is support, way_out
    assert said in way_out.hint


@pytest.mark.parametrize("disabled", [["aten::erfinv"], ["*"], []])
def test_a_rewrite_that_was_disabled_is_pointed_at(disabled: list[str]) -> None:
    way_out = advice_for(Exporter.DYNAMO, 20, {"aten::erfinv"}, disabled)("aten::erfinv.default")
    assert way_out.support is Support.DECOMPOSABLE
    assert ("rewrites.disabled" in way_out.hint) == bool(disabled)


@pytest.mark.parametrize(
    ("disabled", "said"), [([], "read the bits"), (["aten::view.dtype"], "rewrites.disabled")]
)
@pytest.mark.parametrize("route", [Exporter.DYNAMO, Exporter.TORCH_SCRIPT])
def test_bits_of_floats_are_no_numbers(route: Exporter, disabled: list[str], said: str) -> None:
    provided = {"aten::view.dtype"}
    assert said in advice_for(route, 20, provided, disabled)("aten::view.dtype").hint


def many(count: int) -> list[UnsupportedOp]:
    return [
        UnsupportedOp(
            name=f"aten::number_{position}.default",
            count=3,
            module=f"encoder.layers.{position}",
            source=f"package/model.py:{position}",
            support=Support.NEEDS_PLUGIN,
        )
        for position in range(count)
    ]


@pytest.mark.parametrize("count", [1, 20, 60, 200])
def test_a_message_names_as_many_as_fit(count: int) -> None:
    ops = many(count)
    failure = unsupported_failure(ops, Exporter.DYNAMO, 20)
    assert len(failure.message) <= 2048
    assert len(failure.hint) <= 1024
    assert failure.ops == tuple(ops)
    if count <= 60:
        assert all(op.name in failure.message for op in ops)
    else:
        assert f"({count} in all)" in failure.message


def test_places_are_listed_while_there_is_room() -> None:
    assert listed(many(1)) == (
        "aten::number_0.default (3 times, module encoder.layers.0, package/model.py:0)"
    )
