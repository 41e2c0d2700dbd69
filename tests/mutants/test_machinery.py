"""What decides about the verdict is held to account itself, on a graph of two operators."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from modelexport_api.spec import ModelExportSpec
from mutants.draws import draws
from mutants.judges import Opinion, optimum, verify_true
from mutants.mutations import CONTROL, OPERATORS, Mutant, damaged, sites_of
from mutants.page import Listed, parse, render
from mutants.plan import EACH, after_equivalent, plan
from mutants.study import Finding, Report, Whole
from mutants.truth import ALWAYS, Case, Change, Noise, change, open_session, run

FEED = {"x": np.array([[1.0, 2.0, 0.5], [-1.0, -2.0, 0.5]], dtype=np.float32)}


def model() -> onnx.ModelProto:
    """Return y = relu(x @ w + b)."""
    weight = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=np.float32)
    bias = np.array([0.5, -0.5, 1.0], dtype=np.float32)
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 3]) for name in ("x", "y")
    )
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"], name="linear"),
        helper.make_node("Relu", ["z"], ["y"], name="relu"),
    ]
    weights = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def outputs_of(some: onnx.ModelProto) -> list[np.ndarray]:
    return run(open_session(some.SerializeToString()), FEED)


def case(limit: float, unsettled: np.ndarray | None = None) -> Case:
    return Case(FEED, outputs_of(model()), [Noise(limit, unsettled)])


def mutants(operator: str) -> list[Mutant]:
    return sites_of(model(), {})[operator]


def test_every_operator_says_which_bug_it_imitates() -> None:
    assert len(OPERATORS) > 50
    assert [name for name, find in OPERATORS.items() if not inspect.getdoc(find)] == []


def test_an_operator_damages_a_copy() -> None:
    original = model()
    before = original.SerializeToString()
    for of_operator in sites_of(original, {}).values():
        for mutant in of_operator:
            onnx.checker.check_model(damaged(original, {}, mutant), full_check=True)
    assert original.SerializeToString() == before


def test_operators_find_the_same_sites_again() -> None:
    assert sites_of(model(), {}) == sites_of(model(), {})


def test_controls_compute_the_same() -> None:
    for mutant in mutants(CONTROL):
        changed = damaged(model(), {}, mutant)
        assert len(changed.graph.node) == 3
        assert np.array_equal(outputs_of(changed)[0], outputs_of(model())[0])


@pytest.mark.parametrize(
    "operator", ["transposed_weight", "dropped_bias", "sign_bit", "missing_activation"]
)
def test_damage_shows(operator: str) -> None:
    changed = [damaged(model(), {}, mutant) for mutant in mutants(operator)]
    assert any(not np.array_equal(outputs_of(some)[0], outputs_of(model())[0]) for some in changed)


def test_a_change_within_the_noise_does_not_count() -> None:
    session = open_session(damaged(model(), {}, mutants("dropped_bias")[0]).SerializeToString())
    assert change(session, [case(limit=2.0)]).excess <= 1
    assert change(session, [case(limit=0.1)]).excess > 1
    assert change(session, [case(limit=0.0)]).excess == ALWAYS


def test_what_hangs_on_rounding_does_not_count() -> None:
    session = open_session(damaged(model(), {}, mutants("dropped_bias")[0]).SerializeToString())
    assert change(session, [case(0.0, np.ones(6, dtype=bool))]).excess == 0


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_drawn_inputs_stay_in_their_range_and_meet_its_ends(dtype: str) -> None:
    spec = ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///x"},
            "model": {"factory": "m:f"},
            "inputs": [{"name": "x", "dtype": dtype, "shape": ["n", 2], "range": [-3, 7]}],
            "dims": {"n": {"min": 2, "max": 9}},
            "destination": {"uri": "file:///y/"},
        }
    )
    drawn = [feed["x"] for feed in draws(spec, 80)]
    assert {len(array) for array in drawn} >= {2, 9}
    assert min(array.min() for array in drawn) == -3
    assert max(array.max() for array in drawn) == 7


def test_peers_accept_what_is_right_and_refuse_what_is_far_off(tmp_path: Path) -> None:
    expected = outputs_of(model())
    for name, changed, refused in (
        ("whole", model(), False),
        ("damaged", damaged(model(), {}, mutants("transposed_weight")[0]), True),
    ):
        path = tmp_path / f"{name}.onnx"
        onnx.save(changed, path)
        assert optimum(path, FEED, expected).refused is refused
        assert verify_true(path, FEED, expected).refused is refused


def test_queues_begin_with_operators_that_were_used_least() -> None:
    sites = sites_of(model(), {})
    queues = plan({"one": sites, "other": sites})
    assert queues == plan({"one": sites, "other": sites})
    assert CONTROL not in {mutant.operator for queue in queues.values() for mutant in queue}
    for queue in queues.values():
        first = [mutant.operator for mutant in queue[: len(sites) - 1]]
        assert len(set(first)) == len(first)
        assert len(queue) >= EACH


def test_a_mutant_that_computes_the_same_is_replaced_by_one_of_its_operator() -> None:
    one, other, same = Mutant("a", 0, "x"), Mutant("b", 0, "y"), Mutant("a", 1, "z")
    assert after_equivalent(one, [other, same]) == [same, other]
    assert after_equivalent(other, [one, same]) == [one, same]


def test_the_page_is_read_back_as_it_was_written() -> None:
    yes, no = Opinion(refused=True), Opinion(refused=False)
    finding = Finding(
        "model", Mutant("sign_bit", 0, "w[3]"), Change(3.0, 0.1, 0.01, "x [1, 3]"), no, yes, no
    )
    page = render([Report("model", [Whole("model", no, no, no)], [finding], 4)])
    assert parse(page) == [Listed("model", "sign_bit", "w[3]", caught=False, tellable=False)]
    assert "within 8 times the noise or the floor" in page
