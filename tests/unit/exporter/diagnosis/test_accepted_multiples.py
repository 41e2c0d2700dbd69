"""An input that must be larger than another of the same dims is found by calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from modelexport_api.sizes import size_at
from modelexport_api.spec import Dim
from modelexport_exporter.diagnosis.accepted.multiples import limits_of_multiples

Shape = tuple[int, ...]
PICTURES: dict[str, list[int | str]] = {"low": ["b", 1, "h", "w"], "high": ["b", 3, "h", "w"]}
DIMS = {name: Dim(min=1, max=12) for name in ("b", "h", "w", "n")}


def found(
    takes: Callable[[dict[str, Shape]], bool], shapes: Mapping[str, Sequence[int | str]]
) -> list[tuple[str, str]]:
    dims = {size for shape in shapes.values() for size in shape if isinstance(size, str)}
    refused = {
        name: size for name, size in (("b", 3), ("h", 5), ("w", 7), ("n", 4)) if name in dims
    }

    def accepts(tried: Mapping[str, Sequence[int | str]], sizes: Mapping[str, int]) -> bool:
        return takes(
            {name: tuple(size_at(own, sizes) for own in shape) for name, shape in tried.items()}
        )

    assert not accepts(shapes, refused)
    limits = limits_of_multiples(accepts, shapes, DIMS, refused)
    return [(limit.condition, limit.advice) for limit in limits]


@pytest.mark.parametrize(
    ("takes", "condition"),
    [
        (lambda s: s["high"][2:] == tuple(2 * n for n in s["low"][2:]), "2 * h and 2 * w for high"),
        (lambda s: s["low"][2:] == tuple(8 * n for n in s["high"][2:]), "8 * h and 8 * w for low"),
        (lambda s: s["high"][2] == 4 * s["low"][2], "4 * h for high"),
        (lambda s: s["low"][0] == 3 * s["high"][0], "3 * b for low"),
        (lambda s: s["high"][3] == s["low"][3] + 1, "w + 1 for high"),
        # one pair of sizes is no rule
        (lambda s: s["high"][2:] == (10, 14), None),
        (lambda _: False, None),
    ],
)
def test_pictures(takes: Callable[[dict[str, Shape]], bool], condition: str | None) -> None:
    assert [said for said, _ in found(takes, PICTURES)] == ([condition] if condition else [])


def test_the_advice_names_the_dims_that_it_replaces() -> None:
    (limit,) = found(lambda s: s["high"][2] == 2 * s["low"][2], PICTURES)
    assert limit[1] == "Write 2 * h for h of input high in inputs[].shape."


def test_a_series_and_its_differences() -> None:
    takes = lambda s: s["steps"][0] == s["points"][0] - 1  # noqa: E731
    shapes: dict[str, list[int | str]] = {"steps": ["n"], "points": ["n", 3]}
    (limit,) = found(takes, shapes)
    assert limit[0] in {"n - 1 for steps", "n + 1 for points"}


def test_dims_of_one_input_alone_are_not_scaled() -> None:
    assert found(lambda s: s["x"][1] == 8, {"x": ["b", "n"], "y": [3]}) == []
