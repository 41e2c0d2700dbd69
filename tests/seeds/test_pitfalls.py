"""What a tracer gets wrong without a word: right here, or refused with the line and a way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch

from modelexport_api.reasons import Reason
from seeds.case import Case, Refusal, array, integers, refused, tensor
from seeds.harness import Bench, each

ROWS = {"n": (1, 12)}
X = tensor("x", "n", 4)
NUMBER = integers("times", low=0, high=9)
DIVISOR = integers("y", low=1, high=4)
TWELVE = tensor("x", 3, 4)
LINE = ("pitfalls.py:",)
PINNED = {"exporter": "TorchScript"}


def refused_with(*words: str) -> Refusal:
    """Refused for what the model does with values, naming the line."""
    return refused(
        Reason.CAPTURE_FAILED,
        Reason.VERIFICATION_FAILED,
        Reason.CONVERSION_FAILED,
        Reason.DYNAMIC_DIM_SPECIALIZED,
        words=(*LINE, *words),
    )


KEEPS_STATE = refused_with("step.hidden", "model.state")
RANDOM = refused(Reason.VERIFICATION_FAILED, words=["two runs"])


def call_with_state(module: Any, feed: Mapping[str, torch.Tensor]) -> object:  # noqa: ANN401
    """Return the output, and the buffers as the call leaves them."""
    module.step.hidden, module.step.steps = feed["step_hidden"], feed["step_steps"].clone()
    return module(feed["x"]), module.step.hidden, module.step.steps


def pitfall(row: str, name: str, factory: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    """Return a case: right where a route is, otherwise refused with the line."""
    dims = {k: v for k, v in ROWS.items() if any(k in i["shape"] for i in inputs or (X,))}
    options = {"dims": dims, "or_refused": refused_with(), "edges": (), **options}
    return Case(row, name, factory, inputs or (X,), **options)


CASES = (
    pitfall("D1", "numpy_mean", "value_pitfalls:NumpyMean"),
    pitfall(
        "D1",
        "numpy_concatenate",
        "value_pitfalls:NumpyConcatenate",
        X,
        tensor("y", "n", 4),
        nightly=True,
    ),
    pitfall("D1", "numpy_of_sizes", "value_pitfalls:NumpyOfSizes", nightly=True),
    pitfall("D1", "numpy_constants", "value_pitfalls:NumpyConstants", or_refused=None),
    pitfall("D2", "numpy_random", "value_pitfalls:NumpyRandom", expected=RANDOM),
    pitfall("D2", "torch_random", "value_pitfalls:TorchRandom", expected=RANDOM),
    pitfall("D2", "python_random", "value_pitfalls:PythonRandom", expected=RANDOM, nightly=True),
    pitfall(
        "D2",
        "random_unused",
        "value_pitfalls:RandomUnused",
        or_refused=refused(Reason.VERIFICATION_FAILED),
        nightly=True,
    ),
    pitfall("D3", "to_list", "value_pitfalls:ToList"),
    pitfall("D3", "tensor_of_float", "value_pitfalls:TensorOfFloat", nightly=True),
    pitfall("D3", "item_arithmetic", "value_pitfalls:ItemArithmetic"),
    pitfall("D3", "item_in_math", "value_pitfalls:ItemInMath", nightly=True),
    pitfall("D3", "int_of_tensor", "value_pitfalls:IntOfTensor", X, integers("k", low=1, high=4)),
    pitfall(
        "D3", "item_arithmetic_traced", "value_pitfalls:ItemArithmetic", export=PINNED, nightly=True
    ),
    pitfall("D4", "reshape_by_item", "value_pitfalls:ReshapeByItem", TWELVE, DIVISOR),
    pitfall(
        "D4",
        "reshape_by_tensor",
        "value_pitfalls:ReshapeByTensor",
        TWELVE,
        DIVISOR,
        or_refused=None,
    ),
    pitfall("D4", "view_by_item", "value_pitfalls:ViewByItem", TWELVE, DIVISOR, nightly=True),
    pitfall(
        "D5",
        "shape_in_place",
        "size_pitfalls:ShapeInPlace",
        tensor("states", "n", "m"),
        dims={"n": (1, 9), "m": (1, 30)},
        or_refused=None,
    ),
    pitfall(
        "D5",
        "shape_in_place_returned",
        "size_pitfalls:ShapeInPlaceReturned",
        tensor("states", "n", "m"),
        dims={"n": (1, 9), "m": (1, 30)},
    ),
    pitfall(
        "D5",
        "shape_in_place_traced",
        "size_pitfalls:ShapeInPlace",
        tensor("states", "n", "m"),
        dims={"n": (1, 9), "m": (1, 30)},
        export=PINNED,
    ),
    pitfall(
        "D5", "shape_in_place_otherwise", "size_pitfalls:ShapeInPlaceOtherwise", or_refused=None
    ),
    pitfall("D6", "branch", "branch_pitfalls:Branch", or_refused=None),
    pitfall(
        "D6",
        "branch_static",
        "branch_pitfalls:Branch",
        tensor("x", 3, 4),
        or_refused=None,
        nightly=True,
    ),
    pitfall("D6", "branch_inline", "branch_pitfalls:BranchInline", nightly=True),
    pitfall("D6", "branch_of_branches", "branch_pitfalls:BranchOfBranches", or_refused=None),
    pitfall(
        "D6",
        "branch_unscriptable",
        "branch_pitfalls:BranchUnscriptable",
        or_refused=None,
        routes=("DynamoByValue",),
    ),
    pitfall("D6", "branch_on_nothing", "branch_pitfalls:BranchOnNothing", nightly=True),
    pitfall("D7", "trip_count", "branch_pitfalls:TripCount", X, NUMBER, or_refused=None),
    pitfall("D7", "while_large", "branch_pitfalls:WhileLarge", or_refused=None),
    pitfall("D7", "while_counting", "branch_pitfalls:WhileCounting", nightly=True),
    pitfall("D8", "size_branch", "size_pitfalls:SizeBranch", or_refused=None),
    pitfall(
        "D8",
        "size_branch_traced",
        "size_pitfalls:SizeBranch",
        export={"exporter": "Dynamo"},
        nightly=True,
    ),
    pitfall("D8", "size_loop", "size_pitfalls:SizeLoop", or_refused=None),
    pitfall("D8", "size_number", "size_pitfalls:SizeNumber", or_refused=None),
    pitfall("D8", "size_of_len", "size_pitfalls:SizeOfLen", nightly=True),
    pitfall("D8", "size_iteration", "size_pitfalls:SizeIteration", or_refused=None, nightly=True),
    pitfall(
        "D8", "size_parity", "size_pitfalls:SizeParity", tensor("x", 3, "m"), dims={"m": (2, 30)}
    ),
    pitfall("D9", "counter", "call_pitfalls:Counter"),
    pitfall("D9", "counting_buffer", "call_pitfalls:CountingBuffer", nightly=True),
    pitfall(
        "D9", "step", "call_pitfalls:Model", expected=refused_with("step.hidden", "model.state")
    ),
    pitfall(
        "D9",
        "step_with_its_state",
        "call_pitfalls:Model",
        X,
        integers("step_steps", low=0, high=1000),
        tensor("step_hidden", 1, 6),
        model={"state": ["step.hidden", "step.steps"]},
        call=call_with_state,
        or_refused=None,
    ),
    pitfall("D9", "remembering", "call_pitfalls:Remembering"),
    pitfall("D9", "history", "call_pitfalls:History", or_refused=None),
    pitfall(
        "D16",
        "cancelling",
        "value_pitfalls:Cancelling",
        or_refused=refused(Reason.ILL_CONDITIONED),
        edges=(),
        rtol=1.0,
    ),
    pitfall(
        "D16", "chaos", "value_pitfalls:Chaos", expected=refused(Reason.ILL_CONDITIONED), edges=()
    ),
    pitfall(
        "D16",
        "ties",
        "value_pitfalls:Ties",
        tensor("x", "n", 9),
        tied=True,
    ),
    pitfall(
        "D16",
        "tie_breaking",
        "value_pitfalls:TieBreaking",
        or_refused=refused(Reason.VERIFICATION_FAILED, Reason.ILL_CONDITIONED),
        nightly=True,
    ),
    pitfall(
        "D17 C39",
        "other_when_exported",
        "call_pitfalls:OtherWhenExported",
        or_refused=refused(Reason.VERIFICATION_FAILED),
    ),
    pitfall("D17 C39", "same_when_exported", "call_pitfalls:SameWhenExported", or_refused=None),
    pitfall("D17 C16", "wrong_symbolic", "call_pitfalls:WrongSymbolic"),
    pitfall(
        "D17 C16",
        "wrong_symbolic_traced",
        "call_pitfalls:WrongSymbolic",
        export=PINNED,
        expected=refused(Reason.VERIFICATION_FAILED),
    ),
    pitfall(
        "D17 C14",
        "wrong_plugin",
        "call_pitfalls:UsesElu",
        export={"plugins": ["forgets_alpha"], "exporter": "TorchScript"},
        expected=refused(Reason.VERIFICATION_FAILED),
    ),
)

FED = (
    pitfall(
        "D7",
        "trip_count_far",
        "branch_pitfalls:TripCount",
        tensor("x", 2, 4),
        integers("times", low=0, high=40),
        or_refused=None,
        nightly=True,
        feeds=({"x": array([[1e-3] * 4] * 2), "times": array(17, dtype="int64")},),
    ),
)


@pytest.mark.parametrize("case", each((*CASES, *FED)))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
