"""What TorchScript's exporter has no symbolic function for, in files that are run."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.onnx.errors import UnsupportedOperatorError

from modelexport_exporter.decompositions import rewriting_calls
from modelexport_exporter.decompositions.torchscript.missing_symbolics import (
    has_symbolic,
    own_definition,
)
from traced import Function, assert_exported_as_eager, exported

BY_TORCH: dict[str, Function] = {
    "alias": lambda x, n: torch.subtract(x, 2 * x),
    "composite": lambda x, n: torch.count_nonzero(n, dim=1),
    "table": lambda x, n: torch.addcdiv(x, x, x.abs() + 1, value=-2),
    "in_place": lambda x, n: x.clone().addcdiv_(x, x.abs() + 1),
    "nested": lambda x, n: F.celu(x, 1.3),
    "reduction": lambda x, n: x.nansum(1, keepdim=True),
    "dynamic_split": lambda x, n: torch.tensor_split(x, 3),
    "sizes_in_slices": lambda x, n: torch.diff(x, dim=0),
    "arguments_that_are_no_list": lambda x, n: x.tile(2, 1),
    "several_tensors": lambda x, n: torch.meshgrid(x[0], x[:, 0], indexing="ij"),
    "python_function": lambda x, n: torch.cartesian_prod(x[0], x[:, 0]),
    "attribute": lambda x, n: x.mT,
    "booleans": lambda x, n: torch.bitwise_xor(x > 0, x < 1),
    "copy_inside": lambda x, n: torch.isclose(x, x + 1e-9),
    "window": lambda x, n: torch.hamming_window(8) + x[0, 0],
}
FORMS: dict[str, Function] = {
    "integers_clamped": lambda x, n: (n.clamp(-1, 2), n.clamp(min=n * 0), n.clip(max=1)),
    "integers_compared": lambda x, n: (torch.maximum(n, -n), torch.minimum(n, -n), F.relu(n)),
    "floats_equal": lambda x, n: (x.floor() == 0, x.trunc().ne(x * 0), x == torch.nan),
    "flip": lambda x, n: (x.flip(0, 1), x.flip([-1])),
    "permute": lambda x, n: (x.permute(-1, 0), x.movedim(-1, 0)),
    "floor_divide": lambda x, n: (n // 2, torch.floor_divide(n, -3)),
    "threshold": lambda x, n: F.threshold(x, 0.1, 0.5),
    "sum_of_all": lambda x, n: (x.sum(()), x.sum((), dtype=torch.float64), n.sum(1)),
    "norm": lambda x, n: torch.dist(x, 2 * x),
    "fill_diagonal": lambda x, n: x.clone().fill_diagonal_(2.0),
    "kron": lambda x, n: torch.kron(x, x[:2, :2]),
    "multi_dot": lambda x, n: torch.linalg.multi_dot([x, x.mT, x]),
    "bilinear": lambda x, n: F.bilinear(x, x, torch.ones(2, 4, 4), torch.ones(2)),
    "in_place_logic": lambda x, n: (x > 0).__iand__(x < 1),
    "elementary": lambda x, n: (torch.sinh(n), torch.exp2(x), torch.trunc(x), torch.erfc(x)),
    "hyperbolic": lambda x, n: (x.cosh(), x.asinh(), (x * x + 1).acosh(), x.tanh().atanh()),
}


@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize("name", BY_TORCH)
def test_torchs_own_definition_is_written(name: str, opset: int) -> None:
    assert_exported_as_eager(BY_TORCH[name], opset)


@pytest.mark.parametrize("opset", [9, 13])
@pytest.mark.parametrize("name", FORMS)
def test_another_form_is_written(name: str, opset: int) -> None:
    assert_exported_as_eager(FORMS[name], opset)


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_a_diagonal_is_written(opset: int, offset: int) -> None:
    assert_exported_as_eager(
        lambda x, n: (x.diagonal(offset), x[None].diagonal(offset, -2, -1)), opset
    )


def test_results_have_the_names_that_torch_gives_them() -> None:
    assert_exported_as_eager(
        lambda x, n: (torch.cummin(x, 0).values, x.median(1).indices, torch.cummax(x, 1)[0]), 17
    )


@pytest.mark.parametrize("disabled", ["aten::addcdiv", "*"])
def test_a_disabled_operator_is_left_to_be_refused(disabled: str) -> None:
    with pytest.raises(UnsupportedOperatorError, match="aten::addcdiv"):
        exported(lambda x, n: torch.addcdiv(x, x, x), 13, (disabled,))


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda x, n: torch.linalg.ldl_factor(x @ x.mT)[0], "aten::linalg_ldl_factor"),
        (lambda x, n: torch.bitwise_and(n, 3), "aten::bitwise_and"),
    ],
)
def test_what_has_no_definition_is_refused_by_its_name(function: Function, named: str) -> None:
    with pytest.raises(UnsupportedOperatorError, match=named):
        exported(function, 13)


def test_a_definition_leads_to_known_operators_only() -> None:
    overload, x = torch.ops.aten.addcdiv.default, torch.ones(2)
    definition = own_definition(overload, (x, x, x), {}, lambda name: has_symbolic(name, 13))
    assert definition is not None
    assert torch.equal(definition(), torch.full((2,), 2.0))
    assert own_definition(overload, (x, x, x), {}, lambda name: False) is None


def test_nothing_stays_registered() -> None:
    before = has_symbolic("aten::sinh", 13)
    with rewriting_calls((), 13):
        assert has_symbolic("aten::sinh", 13)
    assert has_symbolic("aten::sinh", 13) is before is False


def test_a_call_outside_of_a_trace_is_eagers() -> None:
    x = torch.tensor([3.0, -0.5])
    with rewriting_calls((), 13):
        found: Any = torch.addcdiv(x, x, x)
    assert isinstance(found, Tensor)
    assert torch.equal(found, torch.addcdiv(x, x, x))


@torch.jit.script_if_tracing  # type: ignore[untyped-decorator]
def resized(x: Tensor) -> Tensor:
    return torch.nn.functional.interpolate(x, size=[6, 8], mode="nearest")


def test_functions_that_are_compiled_while_tracing() -> None:
    assert_exported_as_eager(lambda x, _: resized(x[None, None]), 17)
