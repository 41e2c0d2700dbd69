"""docs/onnxruntime.md is what a sweep of onnxruntime's kernels finds.

By default some operators are swept again; at night all are.
"""

from __future__ import annotations

from pathlib import Path

import onnxruntime
import pytest
import torch

from kernels.dispositions import DISPOSITIONS
from kernels.emitted import LEFT_OUT, emitted
from kernels.kernel import Kernel, sweep
from kernels.layouts import unary
from kernels.page import KERNELS, PAGE, Row, differences, parse, rows, unswept

AGAIN = ("Abs", "Log", "Not", "Sign", "Sigmoid", "Range", "ReduceLogSumExp", "Where")
"""Operators that are swept by default; their kernels do not depend on the CPU."""
VECTORIZED = {"Clip", "Max", "Min", "ReduceMax", "ReduceMin"}
"""Operators whose integers depend on the CPU's vector instructions."""


@pytest.fixture(scope="module")
def listed() -> list[Row]:
    return parse(PAGE.read_text())


def found(operators: tuple[str, ...] | None = None) -> list[Row]:
    return rows(differences(operators))


def keys(found: list[Row], *, without: set[str] | None = None) -> set[tuple[str, ...]]:
    return {
        (row.operator, row.kind, *row.inputs)
        for row in found
        if row.operator not in (without or set())
    }


def test_the_page_is_of_the_installed_versions() -> None:
    versions = f"| {onnxruntime.__version__} | {torch.__version__.partition('+')[0]} |"
    assert versions in PAGE.read_text(), "run make kernels"


def test_some_operators_differ_as_the_page_says(listed: list[Row]) -> None:
    own = [row for row in listed if row.operator in AGAIN]
    assert own
    assert keys(found(AGAIN)) == keys(own), "run make kernels"


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_all_operators_differ_as_the_page_says(listed: list[Row]) -> None:
    again = found()
    assert keys(again, without=VECTORIZED) == keys(listed, without=VECTORIZED), "run make kernels"
    assert {(row.operator, row.kind) for row in again} <= set(DISPOSITIONS)


def test_every_operator_of_the_translations_is_swept_or_left_out() -> None:
    assert not unswept()
    assert not set(LEFT_OUT) - emitted(), "left out, but in no translation"
    assert not set(LEFT_OUT) & {kernel.operator for kernel in KERNELS}


def test_every_difference_has_a_disposition_and_each_is_used(listed: list[Row]) -> None:
    assert {(row.operator, row.kind) for row in listed} == set(DISPOSITIONS)


def test_a_wrong_kernel_is_found() -> None:
    wrong = Kernel("Abs", torch.neg, unary, elementwise=True, dtypes=(torch.float32, torch.int64))
    kinds = {(one.dtype, one.kind) for one in sweep(wrong)}
    assert {("float32", "value"), ("int64", "value")} <= kinds


def test_the_page_is_linked() -> None:
    index = Path(PAGE).with_name("index.md").read_text()
    assert "onnxruntime.md" in index
