"""Which values are paired, which steps a proof leaves, and which of them is named."""

from __future__ import annotations

import numpy as np
import pytest

from modelexport_exporter.blame.correspondence import corresponds
from modelexport_exporter.blame.fingerprint import fingerprint
from modelexport_exporter.blame.view import Pair, View
from unit.exporter.blame.graphs import contents, trace

FUSED = "x\nConv: x -> ab\nRelu: ab -> c\nTanh: c -> d"
WHOLE = """
    x
    aten.convolution.default: x -> a
    aten.batch_norm.default: a -> b
    aten.relu.default: b -> c
    aten.tanh.default: c -> d
"""


def test_wrong_fused_convolution_is_paired() -> None:
    """Only the value behind the normalisation makes right what follows."""
    file, here = trace(FUSED, {"x": 0, "ab": 7, "c": 8, "d": 9})
    eager, there = trace(WHOLE, {"x": 0, "a": 1, "b": 2, "c": 3, "d": 4})
    view = View(file, eager, 1e-4, [0])
    pairs = view.pairs(8)
    assert pairs[:2] == [Pair(here["ab"], there["a"]), Pair(here["ab"], there["b"])]
    right = Pair(here["ab"], there["b"])
    assert view.confirms(right, here["c"], fingerprint(contents(3)))
    assert not view.confirms(right, here["c"], fingerprint(contents(5)))
    assert [file.steps[at].name for at in view.nodes(right)] == ["Conv_ab"]
    op = view.op_of(file.steps[0], right)
    assert op is not None
    assert op.op == "aten.convolution.default"


def test_moved_value_proves_nothing() -> None:
    file, here = trace(
        "x\nCos: x -> a\nReshape: a -> b\nExp: b -> c", {"x": 0, "a": 7, "b": 7, "c": 9}
    )
    eager, there = trace(
        "x\nsin: x -> a\nview: a -> b\nexp: b -> c", {"x": 0, "a": 1, "b": 1, "c": 3}
    )
    view = View(file, eager, 1e-4, [0])
    pair = Pair(here["a"], there["a"])
    assert not view.confirms(pair, here["b"], fingerprint(contents(1)))
    assert view.confirms(pair, here["c"], fingerprint(contents(3)))


def test_output_that_equals_eagers_is_proof() -> None:
    file, here = trace("x\nCos: x -> a", {"x": 0, "a": 7})
    eager, there = trace("x\nsin: x -> a", {"x": 0, "a": 1})
    view = View(file, eager, 1e-4, [0])
    assert view.is_output(Pair(here["a"], there["a"]))


def test_missing_bias_is_blamed_instead_of_the_product_before_it() -> None:
    file, here = trace(
        "x\nMatMul: x -> a\nAdd: a -> b\nTanh: b -> c", {"x": 0, "a": 1, "b": 1, "c": 9}
    )
    eager, there = trace(
        "x\nmm: x -> p\naddmm: x p -> b\ntanh: b -> c",
        {"x": 0, "p": 1, "b": 2, "c": 3},
        inner=("p",),
    )
    view = View(file, eager, 1e-4, [0])
    pair = view.skip_unchanged(Pair(here["a"], there["b"]))
    assert pair.mine == here["b"]
    assert [file.steps[at].name for at in view.nodes(pair)] == ["Add_b"]


def test_error_before_is_that_of_matching_inputs() -> None:
    file, here = trace(FUSED, {"x": 0, "ab": 7, "c": 3, "d": 9})
    eager, there = trace(WHOLE, {"x": 0, "a": 1, "b": 2, "c": 3, "d": 4})
    view = View(file, eager, 1e-4, [0])
    assert view.error_before(view.nodes(Pair(here["d"], there["d"]))) == 0.0


@pytest.mark.parametrize(
    ("node", "aten", "kin"),
    [
        ("Conv", "aten.convolution.default", True),
        ("Conv", "aten.native_batch_norm.default", False),
        ("Gemm", "aten.addmm.default", True),
        ("LayerNormalization", "aten.native_layer_norm.default", True),
        ("Relu", "aten.relu_.default", True),
        ("com.microsoft::FusedMatMul", "aten.bmm.default", True),
        ("Softmax", "aten._softmax.default", True),
        ("Cos", "aten.sin.default", False),
        ("Gather", "aten.embedding.default", True),
    ],
)
def test_correspondence(node: str, aten: str, kin: bool) -> None:
    assert corresponds(node, aten) is kin


def test_what_eager_computes_before_or_what_stays_as_it_was_proves_nothing() -> None:
    """With the sum for the product, a file that subtracts the bias returns the product again."""
    file, here = trace(
        "x\nMatMul: x -> a\nSub: a -> b\nTanh: b -> c", {"x": 0, "a": 7, "b": 8, "c": 9}
    )
    eager, there = trace(
        "x\nmm: x -> a\nadd: a -> b\ntanh: b -> c", {"x": 0, "a": 1, "b": 2, "c": 3}
    )
    view = View(file, eager, 1e-4, [0])
    pair = Pair(here["a"], there["b"])
    assert not view.confirms(pair, here["b"], fingerprint(contents(1)))
    assert view.confirms(Pair(here["b"], there["b"]), here["c"], fingerprint(contents(3)))
    file.prints[here["b"]] = fingerprint(contents(3))
    assert not view.confirms(Pair(here["a"], there["a"]), here["b"], fingerprint(contents(3)))


def test_one_condition_that_agrees_is_chance() -> None:
    """Of three conditions on one row two are equal: the wrong one has a right one's value."""
    file, here = trace("x\nLess: x -> a\nLess: x -> b\nConcat: a b -> c", {"x": 0, "c": 9})
    eager, there = trace("x\nlt: x -> a\nge: x -> b\nstack: a b -> c", {"x": 0, "c": 3})
    for name, (mine, theirs) in {"a": (True, False), "b": (True, True)}.items():
        file.prints[here[name]] = fingerprint(np.array([mine]))
        eager.prints[there[name]] = fingerprint(np.array([theirs]))
    view = View(file, eager, 1e-4, [0])
    assert Pair(here["a"], there["a"]) in view.pairs(8)


def test_places_are_no_conditions() -> None:
    file, here = trace("x\nIsNaN: x -> a\nWhere: a -> c", {"x": 0, "c": 9})
    eager, there = trace("x\nsort: x -> a\ngather: a -> c", {"x": 0, "c": 3})
    file.prints[here["a"]] = fingerprint(np.arange(16) > 3)
    eager.prints[there["a"]] = fingerprint(np.arange(16))
    pairs = View(file, eager, 1e-4, [0]).pairs(8)
    assert pairs
    assert Pair(here["a"], there["a"]) not in pairs


def test_without_a_proof_the_node_that_reads_right_values_is_named() -> None:
    """Nothing in eager has the size of the wrong output; the first node has no counterpart."""
    file, _ = trace(
        "x\nIsNaN: x -> m\nTopK: x m -> a\nSlice: a -> c", {"x": 0, "m": 7, "a": 1, "c": 9}
    )
    eager, _ = trace("x\ntopk: x -> a\nslice: a -> c", {"x": 0, "a": 1, "c": 3})
    for step, mine in zip(
        file.steps, (np.arange(16) > 3, np.arange(16), np.arange(15)), strict=True
    ):
        file.prints[step.outputs[0]] = fingerprint(mine)
    for step, theirs in zip(eager.steps, (np.arange(16), np.arange(14)), strict=True):
        eager.prints[step.outputs[0]] = fingerprint(theirs)
    view = View(file, eager, 1e-4, [0])
    assert [file.steps[at].op for at in view.nodes(None)] == ["Slice"]
