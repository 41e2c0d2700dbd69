"""Which unusual samples a model is compared on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from modelexport_exporter.core.comparison import OutputComparison, Problem, ProblemKind
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.unusual_values import UnusualValues
from unit.exporter.verification.test_reference import ROWS


class Repairs(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nan_to_num(x)


class Doubles(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Rounds(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.long()


class Reads(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / max(float(x.max()), 1.0)


X = np.array([[np.nan, 1.0, 2.0]], np.float32)


@pytest.mark.parametrize(
    ("module", "values", "runs", "expects", "unexpected"),
    [
        (Repairs, Values.NORMAL, True, True, False),
        (Repairs, Values.WITH_NAN, True, True, True),
        (Doubles, Values.WITH_NAN, True, False, True),
        (Doubles, Values.WITH_INFINITY, True, False, False),
        (Rounds, Values.WITH_NAN, True, False, True),
        (Rounds, Values.WITH_INFINITY, False, True, False),
        (Reads, Values.WITH_NAN, False, True, False),
    ],
)
def test_samples(
    module: type[torch.nn.Module], values: Values, runs: bool, expects: bool, unexpected: bool
) -> None:
    reference = EagerReference(module(), ROWS)
    unusual = UnusualValues(reference, ())
    sample = Sample({}, values, 0)
    assert unusual.runs_on(sample, {"x": X}) is runs
    if runs:
        returned = reference.run({"x": X}, "here")
        assert unusual.expects(sample, {"x": X}, returned) is expects
        if values is not Values.NORMAL and module is not Repairs:
            assert unusual.compares_unexpected(sample, {"x": X}) is unexpected


def test_outputs_of_kernels_that_ignore_nan_are_excused_and_stated() -> None:
    unusual = UnusualValues(EagerReference(Doubles(), ROWS), {"pooled"})
    problem = Problem(ProblemKind.NOT_FINITE, "at [0] got 1, eager returns nan")
    outputs = [
        OutputComparison("pooled", 0.0, 0.0, 0.0, problem),
        OutputComparison("other", 0.0, 0.0, 0.0, problem),
        OutputComparison("right", 0.0, 0.0, 0.0),
    ]
    assert unusual.coverage() == []
    assert unusual.excused(outputs) == {"pooled"}
    assert unusual.coverage() == [
        "pooled not with NaN, which kernels of the runtime do not pass on"
    ]


def test_what_depends_on_an_integer_of_nan_is_excused_and_may_fail() -> None:
    reference = EagerReference(Rounds(), ROWS)
    unusual = UnusualValues(reference, (), {"rounded"})
    sample = Sample({}, Values.WITH_NAN, 0)
    assert unusual.runs_on(sample, {"x": X})
    assert unusual.may_fail(sample)
    problem = Problem(ProblemKind.NOT_FINITE, "at [0] got 1, eager returns nan")
    outputs = [OutputComparison(name, 0.0, 0.0, 0.0, problem) for name in ("rounded", "other")]
    assert unusual.excused(outputs) == {"rounded"}
    assert unusual.coverage() == ["rounded not with NaN, which became an integer"]


def test_failures_at_far_numbers_are_counted() -> None:
    unusual = UnusualValues(EagerReference(Doubles(), ROWS), ())
    unusual.failed_far += 2
    assert unusual.coverage() == [
        "2 samples of far numbers not: eager raises an error there if it rounds otherwise"
    ]
