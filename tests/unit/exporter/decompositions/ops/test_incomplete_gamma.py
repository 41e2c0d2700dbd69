"""The incomplete gamma functions against eager, which is itself off by 2e-9 near a = x = 25."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.ops.incomplete_gamma import igamma, igammac

ORDERS = torch.logspace(-3, 5, 33, dtype=torch.float64)[:, None]
SHARES = torch.cat([torch.linspace(1e-3, 3, 61), torch.logspace(0.5, 2, 9)]).double()
EDGES = torch.tensor([0.0, 1.0, -1.0, 2.5, float("inf"), float("nan")])


@pytest.mark.parametrize("name", ["aten::igamma", "aten::igammac"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_are_eagers(name: str, dtype: torch.dtype) -> None:
    orders, places = ORDERS.to(dtype), (ORDERS * SHARES).to(dtype)
    assert_as_eager(name, orders.expand_as(places).contiguous(), places, rounding=1e-5)
    assert_as_eager(name, *(x.contiguous() for x in torch.meshgrid(EDGES, EDGES, indexing="ij")))


@pytest.mark.parametrize(
    ("a", "x", "lower", "upper"),
    [
        (25.0, 17.5, 0.053176303853513016, 0.94682369614648698),
        (40.0, 30.0, 0.046253037645842036, 0.95374696235415796),
        (99.0, 99.0, 0.5133658023307904, 0.4866341976692096),
        (0.5, 1.125, 0.86638559746228387, 0.13361440253771613),
        (0.0009765625, 1.0625, 0.9998066762029638, 0.00019332379703620152),
        (10000.0, 10100.0, 0.84134875044717962, 0.15865124955282038),
        (100000.0, 100000.0, 0.50042052211036518, 0.49957947788963482),
        (99.0, 150.0, 0.9999961592724881, 3.8407275119012772e-6),
        (3.0, 30.0, 0.99999999995498983, 4.501016648012124e-11),
        (250.0, 200.0, 0.00036207045828969313, 0.99963792954171031),
        (0.0009765625, 0.0009765625, 0.99381215926415541, 0.0061878407358445856),
    ],
)
def test_both_have_twelve_digits(a: float, x: float, lower: float, upper: float) -> None:
    """By mpmath, with 40 digits."""
    given = (torch.tensor(a).double(), torch.tensor(x).double())
    assert igamma(*given).item() == pytest.approx(lower, rel=1e-12, abs=0)
    assert igammac(*given).item() == pytest.approx(upper, rel=1e-12, abs=0)
