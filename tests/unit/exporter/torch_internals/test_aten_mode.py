"""ATen ops are seen, also those inside of control flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name

LOOP: Any = torch.while_loop


class Names(AtenMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        self.seen.append(op_name(func))
        return func(*args, **kwargs)


def chooses(x: torch.Tensor) -> Any:  # noqa: ANN401
    return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))


@pytest.mark.parametrize(("sign", "op", "other"), [(1, "mul", "sub"), (-1, "sub", "mul")])
def test_the_side_of_a_cond_that_runs_is_seen(sign: int, op: str, other: str) -> None:
    x = sign * torch.ones(3)
    with torch.no_grad(), Names() as names:
        found = chooses(x)
    assert torch.equal(found, chooses(x))
    assert op in names.seen
    assert other not in names.seen


def test_the_rounds_of_a_loop_are_seen() -> None:
    def doubles(x: torch.Tensor) -> Any:  # noqa: ANN401
        return LOOP(lambda x: x.sum() < 20, lambda x: (x * 2,), (x,))

    with torch.no_grad(), Names() as names:
        (found,) = doubles(torch.ones(3))
    assert found.tolist() == [8, 8, 8]
    assert names.seen.count("mul") == 3
