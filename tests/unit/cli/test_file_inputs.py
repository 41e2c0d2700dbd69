"""Inputs that are called and sized as those of a file."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.resource import ManifestError
from modelexport_cli.file_inputs import FileInput, aligned, renamed, sized

BATCH = {"batch": {"min": 1, "max": 32}}


def inputs(*shapes: list[int | str]) -> list[dict[str, Any]]:
    return [{"name": f"x{place}", "shape": shape} for place, shape in enumerate(shapes)]


def test_inputs_get_the_files_names() -> None:
    entries = [{"name": "flag", "kind": "Constant"}, *inputs([2], [3])]
    files = [FileInput("a", (2,)), FileInput("b", (3,))]
    assert [entry["name"] for entry in renamed(entries, files)] == ["flag", "a", "b"]
    assert [entry["name"] for entry in entries] == ["flag", "x0", "x1"]
    assert renamed(entries, ()) == entries


@pytest.mark.parametrize(
    ("names", "expected"), [("ab", "ab"), ("ba", "ab"), ("ax", "ax"), ("aa", "aa"), ("a", "a")]
)
def test_inputs_of_the_same_names_are_assigned_by_name(names: str, expected: str) -> None:
    entries = [{"name": "a"}, {"name": "flag", "kind": "Constant"}, {"name": "b"}]
    found = aligned(entries, [FileInput(name, ()) for name in names])
    assert "".join(file.name for file in found) == expected


def test_another_number_of_inputs_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"the file has 1 inputs \(a\), forward takes 2 "):
        renamed(inputs([2], [3]), [FileInput("a", (2,))])


@pytest.mark.parametrize(
    ("shapes", "file_shapes", "expected", "left"),
    [
        ([["batch", 4]], [(2, 4)], [[2, 4]], {}),
        ([["batch", 4]], [(None, 4)], [["batch", 4]], BATCH),
        ([["batch", 4]], [None], [["batch", 4]], BATCH),
        ([["batch", 4]], [(2, 4, 1)], [["batch", 4]], BATCH),
        ([["batch", 4]], [(64, 4)], [["batch", 4]], BATCH),
        ([["batch"], ["batch", 4]], [(None,), (3, 4)], [[3], [3, 4]], {}),
        ([["batch"], ["2 * batch + 1"]], [(None,), (7,)], [[3], [7]], {}),
        ([["batch"], ["2 * batch"]], [(None,), (7,)], [["batch"], ["2 * batch"]], BATCH),
    ],
)
def test_sizes_that_the_file_fixes_are_not_varied(
    shapes: list[list[int | str]],
    file_shapes: list[tuple[int | None, ...] | None],
    expected: list[list[int | str]],
    left: dict[str, Any],
) -> None:
    files = [FileInput(f"a{place}", shape) for place, shape in enumerate(file_shapes)]
    entries, dims, inferred = sized(inputs(*shapes), BATCH, files, frozenset())
    assert [entry["shape"] for entry in entries] == expected
    assert dims == left
    assert len(inferred) == sum(
        before != after for before, after in zip(shapes, expected, strict=True)
    )


def test_a_dim_that_the_user_states_stays() -> None:
    found = sized(inputs(["batch"]), BATCH, [FileInput("a", (2,))], frozenset({"batch"}))
    assert found == (inputs(["batch"]), BATCH, ())
