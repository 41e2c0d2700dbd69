from __future__ import annotations

import math
from typing import Any

import pytest

from modelexport_exporter.report import errors
from modelexport_exporter.report.errors import errors_of, ratio_of
from modelexport_exporter.report.plots import Shape
from modelexport_exporter.report.report import ComparedOutput
from unit.exporter.report.reports import compared, report, sample, verification


@pytest.mark.parametrize(
    ("output", "ratio"),
    [
        pytest.param(compared("y", 5e-5), 0.5, id="within"),
        pytest.param(compared("y", 1e-3, problem="off"), 10.0, id="beyond"),
        pytest.param(compared("y", 0.0, 0.0), 0.0, id="integers that agree"),
        pytest.param(
            compared("y", 2.0, 0.0, problem="differ"), math.inf, id="integers that do not"
        ),
        pytest.param(compared("y", 0.0, 0.0, problem="shape"), math.inf, id="another shape"),
        pytest.param(compared("y", 1e-9, problem="NaN at"), math.inf, id="NaN elsewhere"),
        pytest.param(compared("y", "nan", problem="NaN"), math.inf, id="no number"),
    ],
)
def test_an_error_as_a_share_of_its_limit(output: dict[str, Any], ratio: float) -> None:
    assert ratio_of(ComparedOutput.model_validate(output)) == pytest.approx(ratio)


def test_where_nothing_was_compared_there_is_no_section() -> None:
    assert errors_of(report(samples=[])) is None


def test_outputs_and_samples_are_rows_of_the_same_comparisons() -> None:
    found = errors_of(
        report(
            samples=[
                sample(compared("a", 1e-5), compared("b", 1e-3, problem="off"), batch=batch)
                for batch in (1, 7, 16)
            ]
        )
    )
    assert found is not None
    assert [(row.name, row.agrees, row.share) for row in found.by_output.rows] == [
        ("a", True, "1/10 of the tolerance"),
        ("b", False, "3 of 3 differ"),
    ]
    assert [row.name for row in found.by_sample.rows] == [
        f"batch={batch} · normal values · seed 0" for batch in (1, 7, 16)
    ]
    assert {mark.shape for mark in found.by_output.rows[1].strip.marks} == {Shape.DIFFERS}
    assert found.by_output.rows[1].strip.description.startswith("3\N{NO-BREAK SPACE}comparisons")
    assert [row.output for row in found.numbers] == ["b", "b", "b", "a", "a", "a"]
    assert found.with_differing


def test_of_many_outputs_those_closest_to_their_limit_are_shown_at_once() -> None:
    names = [f"o{index}" for index in range(40)]
    outputs = [compared(name, index * 1e-6) for index, name in enumerate(names)]
    found = errors_of(report(samples=[sample(*outputs)]))
    assert found is not None
    shown = [row.name for row in found.by_output.rows]
    assert shown == names[: -errors.AT_ONCE - 1 : -1]
    assert len(shown) + len(found.by_output.hidden) == 40


def test_more_than_a_page_can_hold_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "MOST_ROWS", 3)
    monkeypatch.setattr(errors, "MOST_NUMBERS", 4)
    outputs = [compared(f"o{index}", index * 1e-6) for index in range(errors.AT_ONCE + 1)]
    found = errors_of(report(samples=[sample(*outputs)]))
    assert found is not None
    assert found.by_output.left_out == errors.AT_ONCE + 1 - 3
    assert found.numbers_left_out == errors.AT_ONCE + 1 - 4


def test_noise_which_is_relative_is_drawn_as_a_share_of_the_limit() -> None:
    # The peak is 10: an absolute error of 2e-5 is 2e-6 of it, and 1e-6 of it is a tenth of 1e-4.
    noisy = compared("y", 2e-5, noise=1e-6) | {"maxRelError": 2e-6}
    found = errors_of(report(samples=[sample(noisy)]))
    assert found is not None
    assert found.with_noise
    assert found.by_output.rows[0].strip.noise == found.by_output.axis.place(0.1)


def test_inconclusive_comparisons_neither_agree_nor_differ() -> None:
    found = errors_of(report(samples=[sample(compared("y", 1.0, inconclusive="ill-conditioned"))]))
    assert found is not None
    (row,) = found.by_output.rows
    assert row.strip.marks[0].shape is Shape.INCONCLUSIVE
    assert found.with_inconclusive
    assert not found.with_differing
    assert found.numbers[0].answer == "ill-conditioned"


def test_the_page_says_what_samples_covered_and_what_they_did_not_reach() -> None:
    result = verification(coverage=["all 7 sizes of n"], notCompared=["output boxes had none"])
    found = errors_of(report(verification=result, samples=[sample(compared("a", 1e-5), batch=1)]))
    assert found is not None
    assert found.coverage == ("all 7 sizes of n",)
    assert found.not_compared == ("output boxes had none",)
