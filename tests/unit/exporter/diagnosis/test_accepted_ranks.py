"""An input with one axis too few or too many is found by calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from modelexport_api.sizes import size_at
from modelexport_api.spec import Dim
from modelexport_exporter.diagnosis.accepted.ranks import limits_of_ranks

Shape = tuple[int, ...]
DIMS = {"b": Dim(min=1, max=8), "t": Dim(min=1, max=64)}


def found(
    takes: Callable[[Shape], bool], shape: Sequence[int | str], refused: Mapping[str, int]
) -> list[str]:
    def accepts(tried: Mapping[str, Sequence[int | str]], sizes: Mapping[str, int]) -> bool:
        return takes(tuple(size_at(size, sizes) for size in tried["x"]))

    assert not accepts({"x": shape}, refused)
    return [limit.advice for limit in limits_of_ranks(accepts, {"x": shape}, DIMS, refused)]


@pytest.mark.parametrize(
    ("takes", "shape", "advice"),
    [
        (lambda s: len(s) == 4 and s[1:3] == (1, 40), ["b", 40, "t"], "[b, 1, 40, t]"),
        (lambda s: len(s) == 3 and s[2] == 1, ["b", "t"], "[b, t, 1]"),
        (lambda s: len(s) == 3 and s[1] == 1, ["b", "t"], "[b, 1, t]"),
        (lambda s: len(s) == 2 and s[1] == 16, ["b", 1, 16], "[b, 16]"),
        (lambda s: len(s) == 2 and s[0] == 1, ["t"], "[1, t]"),
        # one pair of sizes is no rule
        (lambda s: s == (3, 1, 5), ["b", "t"], None),
        (lambda _: False, ["b", "t"], None),
    ],
)
def test_what_helps(
    takes: Callable[[Shape], bool], shape: Sequence[int | str], advice: str | None
) -> None:
    refused = {name: size for name, size in (("b", 3), ("t", 5)) if name in shape}
    wanted = [f"Set shape: {advice} for input x."] if advice else []
    assert found(takes, shape, refused) == wanted


def test_without_dynamic_dims() -> None:
    assert found(lambda s: s == (1, 3, 8), [3, 8], {}) == ["Set shape: [1, 3, 8] for input x."]
