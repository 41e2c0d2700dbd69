from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
import torch
from torchvision import ops

from modelexport_api.reasons import Reason
from modelexport_api.spec import Input
from modelexport_exporter.call import Call, flatten
from modelexport_exporter.call.call import Leaf
from modelexport_exporter.call.tensors import to_array, to_tensor
from modelexport_exporter.core.errors import ExportFailure, VaryingOutputs
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.treatment_of_nan import TreatmentOfNan

A, B, C = torch.zeros(1), torch.ones(2), torch.ones(3)


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@dataclass
class Output:
    logits: torch.Tensor
    loss: torch.Tensor | None
    cache: tuple[torch.Tensor, ...]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(A, [A], id="a tensor"),
        pytest.param((A, [B, {"z": C}]), [A, B, C], id="nested"),
        pytest.param({"b": A, "a": B}, [A, B], id="a dict, in its own order"),
        pytest.param(Pair(A, B), [A, B], id="a named tuple"),
        pytest.param(Output(A, None, (B, C)), [A, B, C], id="a dataclass with None"),
        pytest.param((A, 3), [A, torch.tensor(3)], id="a number"),
    ],
)
def test_flatten(value: object, expected: list[torch.Tensor]) -> None:
    found = list(flatten(value))
    assert len(found) == len(expected)
    assert all(torch.equal(one, two) for one, two in zip(found, expected, strict=True))


def test_string_output_is_refused() -> None:
    with pytest.raises(ExportFailure, match="an output of forward is a str"):
        list(flatten((A, "label")))


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int64, np.uint8, np.bool_]
)
def test_arrays_and_tensors_convert_both_ways(dtype: Any) -> None:  # noqa: ANN401
    for array in (np.arange(6).reshape(2, 3).astype(dtype), np.ones((), dtype)):
        back = to_array(to_tensor(array))
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)


class InPlace(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1)


class Picky(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(2, -1)


ROWS = Call.of([Leaf(Input(name="x", shape=["n", 3]))], {}, {})


def test_model_that_writes_into_its_inputs_does_not_change_the_sample() -> None:
    array = np.zeros((2, 3), np.float32)
    EagerReference(InPlace(), ROWS).run({"x": array}, "")
    assert not array.any()


@pytest.mark.parametrize("training", [False, True])
def test_module_keeps_its_training_mode(training: bool) -> None:
    module = torch.nn.Dropout(0.5).train(training)
    array = np.ones((50, 3), np.float32)
    (result,) = EagerReference(module, ROWS).run({"x": array}, "")
    assert np.array_equal(result, array) is not training


def test_failure_of_the_original_model_is_an_inputs_mismatch() -> None:
    reference = EagerReference(Picky(), ROWS)
    with pytest.raises(ExportFailure, match="the original model fails at n=5") as caught:
        reference.run({"x": np.ones((5, 3), np.float32)}, "n=5")
    assert caught.value.reason is Reason.INPUTS_MISMATCH
    assert "RuntimeError: shape" in caught.value.message
    assert "in forward: return x.reshape(2, -1)" in caught.value.message


class Mixed(torch.nn.Module):
    """Numbers of several dtypes, some of which only pass."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Linear(3, 2)
        self.table: torch.Tensor
        self.register_buffer("table", torch.ones(4, 3).half())

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        exact = torch.cat([x.double(), x.double()])[:2].clamp(-1, 1)
        table = self.table[:2].float()
        double = exact * 3
        return (
            self.net(x),
            exact,
            double,
            table,
            (self.table * 2).float(),
            self.net(x).double(),
            torch.nn.functional.interpolate(double[None], scale_factor=1.5, mode="linear"),
            self.net(x).argmax(-1),
        )


def test_outputs_have_the_coarsest_dtype_that_they_were_computed_in() -> None:
    reference = EagerReference(Mixed(), ROWS)
    found = reference.computed_in({"x": np.ones((4, 3), np.float32)})
    assert [arithmetic.dtype for arithmetic in found] == [
        "float32",
        "exact",
        "float64",
        "exact",
        "float16",
        "float32",
        "resampled",
        "exact",
    ]


class Gates(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        p = torch.sigmoid(x)
        return p, p.t()[:2].contiguous(), torch.cat([x, p]), 1 - p, x * p, p.log(), torch.tanh(x)


def test_results_of_a_sigmoid_are_known_where_they_are_moved_and_nowhere_else() -> None:
    found = EagerReference(Gates(), ROWS).computed_in({"x": np.ones((4, 3), np.float32)})
    assert [arithmetic.bounded for arithmetic in found] == [True] * 3 + [False] * 4


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (torch.isnan, True),
        (lambda x: x != x, True),  # noqa: PLR0124
        (lambda x: x == float("-inf"), True),
        (torch.nan_to_num, True),
        (lambda x: torch.quantile(x, 0.5), False),
        (lambda x: x != x.flip(0), False),
        (torch.relu, False),
    ],
)
def test_whether_a_module_looks_for_nan(function: Any, expected: bool) -> None:  # noqa: ANN401
    class Looking(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(function(x))

    reference = EagerReference(Looking(), ROWS)
    found = reference.treatment_of_nan({"x": np.ones((4, 3), np.float32)})
    assert (found is TreatmentOfNan.TESTED) is expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (torch.relu, TreatmentOfNan.COMPUTED),
        (lambda x: x.long(), TreatmentOfNan.ROUNDED),
        (lambda x: torch.fft.rfft(x).real.long(), TreatmentOfNan.UNDEFINED),
        (lambda x: torch.fft.rfft(x).real, TreatmentOfNan.FUSED),
        (lambda x: torch.complex(x, x).add(1j).real, TreatmentOfNan.FUSED),
        (lambda x: torch.complex(x, x).mul(1j).real, TreatmentOfNan.COMPUTED),
        (
            lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x),
            TreatmentOfNan.FUSED,
        ),
        (
            lambda x: ops.roi_align(x[None], torch.zeros(1, 5), 1),
            TreatmentOfNan.UNDEFINED,
        ),
        (
            lambda x: ops.roi_align(torch.nan_to_num(x[None]), torch.zeros(1, 5), 1),
            TreatmentOfNan.TESTED,
        ),
    ],
)
def test_what_a_module_that_does_not_look_for_nan_does_with_it(
    function: Any,  # noqa: ANN401
    expected: TreatmentOfNan,
) -> None:
    class Computing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(function(x[None]))

    reference = EagerReference(Computing(), ROWS)
    assert reference.treatment_of_nan({"x": np.ones((4, 3), np.float32)}) is expected


def test_values_that_the_module_refuses_are_not_accepted() -> None:
    reference = EagerReference(Picky(), ROWS)
    assert reference.accepts({"x": np.ones((4, 3), np.float32)})
    assert not reference.accepts({"x": np.ones((5, 3), np.float32)})


@pytest.mark.parametrize(("reads", "kept"), [(False, True), (True, False)])
def test_outputs_of_accepted_values_are_compared_unless_the_module_reads_values(
    reads: bool, kept: bool
) -> None:
    class Module(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if reads and x.sum() > 100 else x + 1

    module, arrays = Module(), {"x": np.ones((4, 3), np.float32)}
    reference = EagerReference(module, ROWS)
    assert reference.accepts(arrays)
    early = reference.early.take(arrays)
    assert (early is not None) == kept
    if early is not None:
        np.testing.assert_array_equal(early.outputs[0], reference.run(arrays, "the same")[0])


def test_exported_program_is_not_moved() -> None:
    program = torch.export.export(torch.nn.Linear(3, 2), (torch.ones(4, 3),))
    (result,) = EagerReference(program.module(), ROWS).run({"x": np.ones((4, 3), np.float32)}, "")
    assert result.shape == (4, 2)


class _FindsMarks(torch.nn.Module):
    """Returns a second output for some values only."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        return x, (x * 2 if bool(x.max() > 0) else None)


def test_an_output_that_is_not_always_there_is_refused() -> None:
    entry = Input.model_validate({"name": "x", "shape": [2], "dtype": "float32"})
    reference = EagerReference(_FindsMarks(), Call.of([Leaf(entry)], {}, {}))
    low, high = (np.full(2, number, np.float32) for number in (-1, 1))
    assert len(reference.run({"x": low}, "low")) == 1
    assert reference.accepts({"x": high})
    assert reference.early.take({"x": high}) is None
    with pytest.raises(VaryingOutputs, match=r"1 output \(without output_1\) at low and 2 outputs"):
        reference.run({"x": high}, "high")
