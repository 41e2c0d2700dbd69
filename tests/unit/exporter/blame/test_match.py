"""Which values are suspected, by tables of small graphs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from modelexport_exporter.blame import match
from unit.exporter.blame.graphs import trace


@dataclass(frozen=True)
class Case:
    """Two graphs over values given by what they hold; `suspected` of the file."""

    file: str
    eager: str
    here: dict[str, int]
    there: dict[str, int]
    suspected: set[str]


CASES = {
    "the step and its successors": Case(
        "x\nGemm: x -> a\nCos: a -> b\nMul: b b -> c",
        "x\naddmm: x -> a\nsin: a -> b\nmul: b b -> c",
        {"x": 0, "a": 1, "b": 9, "c": 8},
        {"x": 0, "a": 1, "b": 2, "c": 3},
        {"b", "c"},
    ),
    "not what an optimizer fused, when the next value agrees": Case(
        "x\nConv: x -> ab\nRelu: ab -> c\nTanh: c -> d",
        "x\nconvolution: x -> a\nbatch_norm: a -> b\nrelu: b -> c\ntanh: c -> d",
        {"x": 0, "ab": 7, "c": 3, "d": 9},
        {"x": 0, "a": 1, "b": 2, "c": 3, "d": 4},
        {"d"},
    ),
    "not the way past it": Case(
        "x\nRelu: x -> a\nConv: a -> b\nAdd: a b -> c",
        "x\nrelu: x -> a\nconvolution: a -> b\nadd: a b -> c",
        {"x": 0, "a": 1, "b": 9, "c": 8},
        {"x": 0, "a": 1, "b": 2, "c": 3},
        {"b", "c"},
    ),
    "not what leads to other outputs alone": Case(
        "x\nExp: x -> a\nSin: x -> b\nCos: x -> c",
        "x\nexp: x -> a\nsin: x -> b\ntan: x -> c",
        {"x": 0, "a": 9, "b": 2, "c": 8},
        {"x": 0, "a": 1, "b": 2, "c": 3},
        {"c"},
    ),
    "not sums of sizes, which eager does in Python": Case(
        "x\nShape: x -> s\nAdd: s s -> t\nReshape: x t -> a\nCos: a -> b",
        "x\nview: x -> a\nsin: a -> b",
        {"x": 0, "s": 5, "t": 6, "a": 0, "b": 9},
        {"x": 0, "a": 0, "b": 2},
        {"b"},
    ),
    "a half of it that agrees does not speak for it": Case(
        "x\nConv: x -> a\nSlice: a -> b\nAdd: a b -> c",
        "x\nconvolution: x -> a\nslice: a -> b\nadd: a b -> c",
        {"x": 0, "a": 9, "c": 8},
        {"x": 0, "a": 1, "c": 3},
        {"a", "b", "c"},
    ),
    "a right value that has only the size of it does not speak for it": Case(
        "x\nConv: x -> a\nShape: a -> s\nExpand: x s -> e\nAdd: a e -> c",
        "x\nconvolution: x -> a\nexpand: x -> e\nadd: a e -> c",
        {"x": 0, "a": 9, "e": 2, "c": 8},
        {"x": 0, "a": 1, "e": 2, "c": 3},
        {"a", "c"},
    ),
    "an addition of nothing in the place of a bias": Case(
        "x\nMatMul: x -> a\nAdd: a -> b\nRelu: b -> c",
        "x\nmm: x -> a\nadd: a -> b\nrelu: b -> c",
        {"x": 0, "a": 1, "b": 1, "c": 8},
        {"x": 0, "a": 1, "b": 2, "c": 3},
        {"b", "c"},
    ),
    "not an addition of nothing that eager does as well": Case(
        "x\nMatMul: x -> a\nAdd: a -> b\nCos: b -> c",
        "x\nmm: x -> a\nadd: a -> b\nsin: b -> c",
        {"x": 0, "a": 1, "b": 1, "c": 8},
        {"x": 0, "a": 1, "b": 1, "c": 3},
        {"c"},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_suspects(case: Case) -> None:
    file, names = trace(case.file, case.here)
    eager, _ = trace(case.eager, case.there)
    right = match.matches(file, eager, 1e-4)
    found = match.suspects(file, set(right), file.outputs)
    assert found == {names[name] for name in case.suspected}


def test_strict_search_suspects_the_source_of_a_matching_square() -> None:
    file, names = trace(
        "x\nSub: x -> a\nPow: a -> b\nDiv: a b -> c", {"x": 0, "a": 9, "b": 2, "c": 8}
    )
    eager, _ = trace("x\nsub: x -> a\npow: a -> b\ndiv: a b -> c", {"x": 0, "a": 1, "b": 2, "c": 3})
    right = set(match.matches(file, eager, 1e-4))
    assert names["a"] not in match.suspects(file, right, file.outputs)
    assert names["a"] in match.suspects(file, right, file.outputs, strict=True)


def test_values_are_ranked_by_number_of_suspected_steps() -> None:
    file, names = trace("x\nA: x -> a\nB: x -> b\nC: a b -> c\nD: c -> d", {"x": 0})
    ranked = match.rank(file, {names[name] for name in "abcd"})
    assert ranked == {names["a"]: 1, names["b"]: 1, names["c"]: 3, names["d"]: 4}


def test_region_ends_at_matching_values() -> None:
    file, names = trace("x\nA: x -> a\nB: a -> b\nC: b -> c\nD: c -> d", {"x": 0})
    steps = match.region(file, {names["b"], names["c"], names["d"]}, names["c"])
    assert [file.steps[at].op for at in steps] == ["B", "C"]


def test_whole_ops_are_matched_before_their_parts() -> None:
    file, names = trace("x\nMatMul: x -> a\nAdd: a -> b", {"x": 0, "a": 1, "b": 2})
    eager, theirs = trace(
        "x\nmm: x -> p\nadd: p -> q\naddmm: q -> b",
        {"x": 0, "p": 1, "q": 2, "b": 2},
        inner=("p", "q"),
    )
    found = match.matches(file, eager, 1e-4)
    assert found[names["a"]][0] == theirs["p"]
    assert found[names["b"]][0] == theirs["b"]


def test_ones_of_a_size_do_not_speak_for_the_value_whose_size_they_have() -> None:
    eager, names = trace(
        "x\naddmm: x -> a\naten.new_ones.default: a -> n\nmul: a -> c",
        {"x": 0, "a": 1, "n": 2, "c": 3},
    )
    assert match.suspects(eager, {names["n"]}, eager.outputs) == {names["a"], names["c"]}
