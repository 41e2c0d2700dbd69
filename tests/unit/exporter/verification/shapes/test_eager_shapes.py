"""Shapes of the original module, run with symbols for sizes or at each size."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.torch_internals import fake_tensors
from modelexport_exporter.verification.shapes import eager_shapes as subject
from modelexport_exporter.verification.shapes.eager_shapes import eager_shapes
from modelexport_exporter.verification.shapes.observed import EagerShapes

SPEC = ModelExportSpec.model_validate(
    {
        "source": {"uri": "file:///model.pt"},
        "model": {"factory": "a:b"},
        "inputs": [{"name": "x", "shape": ["n", "m"]}],
        "dims": {"n": {"min": 0, "max": 120}, "m": {"min": 1, "max": 9}},
        "destination": {"uri": "file:///out/"},
    }
)


class Encoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        encoded: torch.Tensor = self.layer(x[..., None].expand(-1, -1, 8))
        return encoded[:, ::2]


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:3] if x.shape[0] == 50 else torch.cat([x, x.T.reshape(-1, x.shape[1])])


class Rounds(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[: int(x.shape[0] * 0.58)]


class WritesText(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:1] if f"{x.shape[0]}" == "50" else x


class LooksUp(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[: {50: 2, 60: 5}.get(x.shape[0], 1)]


class Keeps(torch.nn.Module):
    """As a table of positions that grows with the longest input."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.zeros(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(x) > len(self.table):
            self.table = torch.zeros(len(x))
        return x * self.table[: len(x), None]


def shapes_of(module: torch.nn.Module) -> EagerShapes:
    return eager_shapes(
        module.eval(), bind_inputs(SPEC, module, None).call, {}, "cpu", lambda _: nullcontext()
    )


@pytest.mark.parametrize("kind", [Encoder, Branches, Rounds, WritesText, LooksUp, Keeps])
def test_shapes_are_those_of_runs(kind: type[torch.nn.Module]) -> None:
    module = kind()
    shapes = shapes_of(module)
    for n, m in [(7, 5), (8, 5), (50, 5), (60, 2), (1, 1), (119, 9), (9, 9)]:
        wanted = tuple(kind().eval()(torch.zeros(n, m)).shape)
        assert shapes({"n": n, "m": m}) == [wanted], (n, m)


def test_few_runs_stand_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []

    def counted(*given: object) -> object:
        runs.append(given)
        return fake_tensors.symbolic_shapes(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(subject, "symbolic_shapes", counted)
    shapes = shapes_of(Encoder())
    found = [shapes({"n": n, "m": m}) for n in range(1, 121) for m in range(1, 10)]
    assert found == [[(n, (m + 1) // 2, 8)] for n in range(1, 121) for m in range(1, 10)]
    assert len(runs) <= subject.MOST_SYMBOLIC


def test_shapes_that_depend_on_contents_are_unknown() -> None:
    class Chooses(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[x > 0]

    assert shapes_of(Chooses())({"n": 3, "m": 2}) is None


def test_the_module_stays_as_it_is() -> None:
    module = Keeps()
    shapes_of(module)({"n": 60, "m": 2})
    assert module.table.tolist() == [0.0] * 4
