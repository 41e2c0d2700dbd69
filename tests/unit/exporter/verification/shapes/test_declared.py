"""Declared shapes against those of runs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from modelexport_exporter.verification.shapes.declared import (
    Declared,
    contradictions,
    true_shapes,
)
from modelexport_exporter.verification.shapes.observed import Observed, Shape

Runs = list[Observed]


def runs(*entries: tuple[int, Mapping[str, Shape]]) -> Runs:
    return [Observed({"n": n}, shapes) for n, shapes in entries]


ROWS = runs((3, {"y": (3, 4)}), (5, {"y": (5, 4)}), (8, {"y": (8, 4)}))


@pytest.mark.parametrize("shape", [("n", 4), ("u0", 4), ("?", "?"), ("n", "u0"), ("2*n - n", 4)])
def test_true_shapes_are_not_contradicted(shape: Declared) -> None:
    assert contradictions({"y": shape}, ROWS) == ()


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((3, 4), "output y dim 0: declared 3, returned 5 at n=5"),
        (("2*n", 4), "output y dim 0: declared 2*n, returned 3 at n=3"),
        (("n", "n"), "output y dim 1: declared n, returned 4 at n=3"),
        (("u0", "u0"), "output y dim 1: declared u0, returned 4 at n=3"),
        (("n",), "output y: declared ['n'], returned [3, 4] at n=3"),
        ((), "output y: declared [], returned [3, 4] at n=3"),
    ],
)
def test_false_shapes_are_found_once(shape: Declared, text: str) -> None:
    assert [str(found) for found in contradictions({"y": shape}, ROWS)] == [text]


def test_a_name_is_one_size_in_all_outputs_of_a_run() -> None:
    declared: dict[str, Declared] = {"boxes": ("u0", 4), "scores": ("u0",)}
    same = runs((3, {"boxes": (7, 4), "scores": (7,)}), (3, {"boxes": (2, 4), "scores": (2,)}))
    assert contradictions(declared, same) == ()
    other = runs((3, {"boxes": (7, 4), "scores": (6,)}))
    assert [str(found) for found in contradictions(declared, other)] == [
        "output scores dim 0: declared u0, returned 6 at n=3"
    ]


@pytest.mark.parametrize(
    ("file", "session", "true"),
    [
        (("n", 4), ("n", 4), ("n", 4)),
        (("Concatnew_state_dim_0", 4), ("Concatnew_state_dim_0", 4), ("n", 4)),
        (("unk__3", "unk__4"), ("unk__3", 4), ("n", 4)),
        ((3, 4), (3, 4), ("n", 4)),
        (("u0", 4), ("u0", 4), ("u0", 4)),
        (("n", "unk__4"), ("n", "unk__4"), ("n", "y_dim_1")),
        (("n",), (), ("n", "y_dim_1")),
    ],
)
def test_shape_to_declare(file: Declared, session: Declared, true: Declared) -> None:
    assert true_shapes([{"y": file}, {"y": session}], ROWS, ["n"]) == {"y": true}


def test_a_size_that_depends_on_values_gets_the_name_of_its_output() -> None:
    found = runs((3, {"y": (1,)}), (5, {"y": (5,)}), (5, {"y": (2,)}))
    assert true_shapes([{"y": ("n",)}, {"y": ("n",)}], found, ["n"]) == {"y": ("y_dim_0",)}


def test_no_shape_where_the_number_of_dims_varies() -> None:
    found = runs((1, {"y": ()}), (5, {"y": (5,)}))
    assert true_shapes([{"y": ("n",)}], found, ["n"]) == {"y": None}


def test_a_dim_of_one_size_names_nothing() -> None:
    assert true_shapes([{}], ROWS, []) == {"y": ("y_dim_0", "y_dim_1")}


def test_a_declared_dim_may_be_called_as_converters_do() -> None:
    found = [Observed({"x_dim_0": size}, {"y": (size,)}) for size in (3, 5)]
    assert true_shapes([{"y": ("x_dim_0",)}], found, ["x_dim_0"]) == {"y": ("x_dim_0",)}
