"""What sizes forward accepts is found by calls, and said as the spec would say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.spec import Dim
from modelexport_exporter.diagnosis.accepted.sizes import limits_of_sizes

Sizes = Mapping[str, int]


def found(
    accepts: Callable[[Sizes], bool], refused: Sizes, **dims: tuple[int, int]
) -> dict[str, str]:
    declared = {name: Dim(min=low, max=high) for name, (low, high) in dims.items()}
    limits = limits_of_sizes(accepts, declared, refused)
    return {limit.condition: limit.advice for limit in limits}


CASES = {
    "a least size": (lambda s: s["n"] >= 9, {"b": 3, "n": 5}, {"b": (1, 4), "n": (1, 64)}),
    "a least size of audio": (lambda s: s["n"] >= 2049, {"n": 5}, {"n": (1, 48_000)}),
    "a table": (lambda s: s["n"] <= 128, {"b": 1, "n": 200}, {"b": (1, 4), "n": (1, 200)}),
    "both ends": (lambda s: 7 <= s["n"] <= 90, {"n": 5}, {"n": (1, 512)}),
    "one size": (lambda s: s["n"] == 12, {"b": 3, "n": 5}, {"b": (1, 4), "n": (1, 16)}),
    "pairs of rows": (lambda s: s["n"] % 2 == 0, {"n": 5}, {"n": (1, 16)}),
    "patches": (lambda s: s["n"] % 224 == 0, {"b": 3, "n": 5}, {"b": (1, 4), "n": (1, 1024)}),
    "a least multiple": (
        lambda s: s["n"] % 32 == 0 and s["n"] >= 64,
        {"n": 5},
        {"n": (1, 1024)},
    ),
    "windows": (lambda s: s["n"] % 4 == 1, {"n": 7}, {"n": (1, 24)}),
    "two of an image": (
        lambda s: s["h"] >= 32 and s["w"] >= 33,
        {"h": 3, "w": 5},
        {"h": (1, 256), "w": (1, 256)},
    ),
    "patches of an image": (
        lambda s: s["h"] % 7 == s["w"] % 7 == 0,
        {"b": 3, "h": 17, "w": 19},
        {"b": (1, 4), "h": (7, 40), "w": (7, 40)},
    ),
    "one image": (
        lambda s: s["h"] * s["w"] == 784,
        {"b": 3, "h": 16, "w": 32},
        {"b": (1, 4), "h": (16, 40), "w": (16, 40)},
    ),
    "one image of many": (
        lambda s: s["h"] * s["w"] == 224 * 224,
        {"b": 3, "h": 65, "w": 97},
        {"b": (1, 4), "h": (32, 1000), "w": (200, 1000)},
    ),
    "a product": (lambda s: s["k"] == s["m"], {"k": 5, "m": 7}, {"k": (1, 8), "m": (1, 8)}),
    "three equal": (
        lambda s: s["k"] == s["m"] == s["p"],
        {"k": 5, "m": 7, "p": 2, "b": 3},
        {"k": (1, 8), "m": (1, 8), "p": (1, 8), "b": (1, 4)},
    ),
    "one less": (lambda s: s["m"] == s["k"] - 1, {"k": 5, "m": 7}, {"k": (2, 8), "m": (1, 8)}),
    "a sum": (
        lambda s: s["m"] == s["p"] + s["t"],
        {"b": 2, "t": 5, "p": 7, "m": 11},
        {"b": (1, 4), "t": (1, 9), "p": (0, 9), "m": (1, 18)},
    ),
    "a sum and one": (
        lambda s: s["m"] == s["p"] + s["t"] + 1,
        {"m": 11, "t": 5, "p": 7},
        {"m": (1, 30), "t": (1, 9), "p": (1, 9)},
    ),
    "a sum, and a pair": (
        lambda s: s["m"] == s["p"] + s["t"] and s["k"] == s["q"],
        {"t": 5, "p": 7, "m": 12, "k": 2, "q": 3},
        {"t": (1, 9), "p": (0, 9), "m": (1, 18), "k": (1, 4), "q": (1, 4)},
    ),
    "twice": (lambda s: s["m"] == 2 * s["k"], {"k": 5, "m": 7}, {"k": (1, 8), "m": (1, 16)}),
    "no rule": (lambda s: s["b"] in {2, 3, 5, 8}, {"b": 1}, {"b": (1, 8)}),
    "none": (lambda _: False, {"b": 1}, {"b": (1, 8)}),
    "constant": (lambda _: False, {"b": 1}, {"b": (1, 1)}),
}
SAID = {
    "a least size": {"n from 9 on": "Set dims.n.min: 9."},
    "a least size of audio": {"n from 2049 on": "Set dims.n.min: 2049."},
    "a table": {"n up to 128": "Set dims.n.max: 128."},
    "both ends": {"n from 7 on and up to 90": "Set dims.n.min: 7 and dims.n.max: 90."},
    "one size": {"n = 12 only": "Write 12 for n in inputs[].shape."},
    "pairs of rows": {
        "n a multiple of 2": "Write 2 * n for n in inputs[].shape, and dims.n of 1..8 (or let "
        "forward pad n to such a size)."
    },
    "patches": {"n a multiple of 224"},
    "a least multiple": {
        "n from 64 on, n a multiple of 32": "Write 32 * n for n in inputs[].shape, and dims.n of "
        "2..32 (or let forward pad n to such a size)."
    },
    "windows": {
        "n 1 more than a multiple of 4": "Let forward pad n to such a size, or declare one size in "
        "inputs[].shape."
    },
    "two of an image": {
        "h from 32 on": "Set dims.h.min: 32.",
        "w from 33 on": "Set dims.w.min: 33.",
    },
    "patches of an image": {"h a multiple of 7", "w a multiple of 7"},
    "one image": {"h = 28 only", "w = 28 only"},
    "one image of many": {"h = 224 only", "w = 224 only"},
    "a product": {"k and m equal": "Give k and m one name in inputs[].shape."},
    "three equal": {"k, m and p equal": "Give k, m and p one name in inputs[].shape."},
    "one less": {"m = k - 1"},
    "a sum": {"m = t + p": "Write t + p for m in inputs[].shape."},
    "a sum and one": {"m = t + p + 1": "Write t + p + 1 for m in inputs[].shape."},
    "a sum, and a pair": {"m = t + p", "k and q equal"},
    "twice": {"m = 2 * k"},
    "no rule": {"b = 2, 3, 5, 8, not 1, 4, 6, 7"},
    "none": {},
    "constant": {},
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    accepts, refused, dims = CASES[name]
    said, limits = SAID[name], found(accepts, refused, **dims)
    assert (limits if isinstance(said, dict) else set(limits)) == said


@given(low=st.integers(1, 300), high=st.integers(1, 300), refused=st.integers(1, 300))
def test_bounds_are_exact(low: int, high: int, refused: int) -> None:
    if low <= refused <= high or low > high:
        return
    calls: list[int] = []

    def accepts(sizes: Sizes) -> bool:
        calls.append(sizes["n"])
        return low <= sizes["n"] <= high

    limits = found(accepts, {"n": refused}, n=(1, 300))
    for condition in limits:
        if low > 1 and "from" in condition:
            assert f"from {low} on" in condition
        if high < 300 and "up to" in condition:
            assert f"up to {high}" in condition
    assert limits or not any(low <= size <= high for size in calls)
    assert len(calls) < 200
