"""Names of outputs: what forward returns, and nothing else, decides them."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.call import flatten, output_paths
from modelexport_exporter.call.output_names import Path, output_names

IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_.]{0,127}"
T = torch.zeros(1)
STEPS = st.one_of(st.integers(0, 3), st.sampled_from(["a", "b.c", "0", "ü", "", "output_1", "x"]))


class Normal(NamedTuple):
    mean: Any
    scale: Any


@dataclass
class Found:
    boxes: Any
    masks: Any = None
    parts: Any = None


@pytest.mark.parametrize(
    ("returned", "names"),
    [
        pytest.param(T, ["output_0"], id="a tensor"),
        pytest.param((T, T), ["output_0", "output_1"], id="a tuple"),
        pytest.param([T, None, T], ["output_0", "output_1"], id="a list with None"),
        pytest.param((T, (T, T)), ["output_0", "output_1", "output_2"], id="nested tuples"),
        pytest.param(deque([T, T], maxlen=9), ["output_0", "output_1"], id="a deque"),
        pytest.param({"logits": T, "loss": None, "h": T}, ["logits", "h"], id="a dict with None"),
        pytest.param(OrderedDict(z=T, a=T), ["z", "a"], id="an ordered dict"),
        pytest.param(defaultdict(None, {"u": T, "v": T}), ["u", "v"], id="a default dict"),
        pytest.param({0: T, 7: T}, ["output_0", "output_7"], id="numbers as keys"),
        pytest.param({"a b": T, "a-b": T}, ["a_b", "a_b_2"], id="keys that are no identifiers"),
        pytest.param(Normal(T, T), ["mean", "scale"], id="a named tuple"),
        pytest.param(torch.topk(T, 1), ["values", "indices"], id="a result of torch"),
        pytest.param(Found(T, None, [T, T]), ["boxes", "parts.0", "parts.1"], id="a dataclass"),
        pytest.param({"p": Normal(T, T)}, ["p.mean", "p.scale"], id="a named tuple in a dict"),
        pytest.param((T, {"aux": T, "all": [T, {"b": T}]}), ["output_0", "aux", "all.0", "all.1.b"],
                     id="a dict in a tuple"),
        pytest.param([{"boxes": T, "scores": T}], ["boxes", "scores"], id="one picture"),
        pytest.param([{"boxes": T}, {"boxes": T}], ["output_0.boxes", "output_1.boxes"],
                     id="two pictures"),
        pytest.param({"key_cache": [T]}, ["key_cache.0"], id="a dict with a name of caches"),
        pytest.param((3, True), ["output_0", "output_1"], id="numbers"),
    ],
)  # fmt: skip
def test_outputs_are_called_by_keys_and_fields_else_by_their_place(
    returned: object, names: list[str]
) -> None:
    assert output_names(output_paths(returned)) == names
    assert len(list(flatten(returned))) == len(names)


@pytest.mark.parametrize(
    ("paths", "taken", "last", "names"),
    [
        ([("x",), ("y",)], {"x"}, [], ["output_x", "y"]),
        ([()], {"output_0"}, [], ["output_output_0"]),
        ([("x",), ("output_x",)], {"x"}, [], ["output_x", "output_x_2"]),
        ([("next_m",)], {"m"}, ["next_m"], ["output_next_m", "next_m"]),
        ([(0,), ("output_0",)], set(), [], ["output_0", "output_0_2"]),
    ],
    ids=["an input", "an input by place", "both", "a state", "a key like a place"],
)
def test_no_output_has_a_name_that_is_taken(
    paths: list[Path], taken: set[str], last: list[str], names: list[str]
) -> None:
    assert output_names(paths, taken, last) == names


@given(
    st.lists(st.lists(STEPS, max_size=4).map(tuple), max_size=8),
    st.sets(st.sampled_from(["a", "output_0", "output_1", "output_a", "x"])),
)
def test_names_are_identifiers_and_all_different(paths: list[Path], taken: set[str]) -> None:
    names = output_names(paths, taken)
    assert len(names) == len(paths)
    assert len({*names, *taken}) == len(names) + len(taken)
    assert all(re.fullmatch(IDENTIFIER, name) for name in names)


def test_long_names_end_at_the_length_of_an_identifier() -> None:
    names = output_names([("a" * 300,), ("a" * 200,)], {"a" * 128})
    assert [len(name) for name in names] == [128, 128]
    assert len(set(names)) == 2
