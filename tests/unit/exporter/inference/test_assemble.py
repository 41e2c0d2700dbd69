"""Inputs and dims as a manifest has them, and where each value came from."""

from __future__ import annotations

from modelexport_api.spec import Dim, DType, InputKind
from modelexport_exporter.core.proposal import Stated, StatedInput
from modelexport_exporter.inference.assemble import Inputs, Range, assemble, unused_dims
from modelexport_exporter.inference.extents import Extent, Extents
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses

IDS = Guess("ids", DType.INT64, (BATCH, "ids.1"))
SIZES = {BATCH: 3, "ids.1": 11}
FOUND = (Extent(BATCH, 1, 32, 1, "ran at 1 and 32"), Extent("ids.1", 1, 128, 1, "ran at 1 and 128"))
ROWS = {"ids": Range(0.0, 999.0, "999 was accepted, 1000 was refused")}


def made(stated: Stated = Stated(), extents: tuple[Extent, ...] = FOUND) -> Inputs:  # noqa: B008
    return assemble(Extents(Guesses((IDS,), SIZES), extents), ROWS, stated, "2 trial runs")


def test_each_value_that_was_found_has_its_source() -> None:
    inputs = made()
    (entry,) = inputs.inputs
    assert (entry.shape, entry.range) == (["batch", "sequence"], [0.0, 999.0])
    assert inputs.dims == {"batch": Dim(max=32), "sequence": Dim(max=128)}
    assert {one.field: (one.value, one.source) for one in inputs.inferred} == {
        "dims.batch": ("1..32", "ran at 1 and 32"),
        "dims.sequence": ("1..128", "ran at 1 and 128"),
        "inputs[0].name": ("ids", "2 trial runs"),
        "inputs[0].dtype": ("int64", "2 trial runs"),
        "inputs[0].shape": ("[batch, sequence]", "2 trial runs"),
        "inputs[0].range": ("0..999", "999 was accepted, 1000 was refused"),
    }


def test_what_the_user_states_is_not_marked() -> None:
    own = StatedInput("ids", DType.INT64, ("batch", "seq"), (0.0, 9.0))
    stated = Stated((own,), {"batch": Dim(max=8)})
    guess = Guess("ids", DType.INT64, ("batch", "seq"), range=(0.0, 9.0))
    found = (Extent("seq", 1, 128, 1, "ran at 1 and 128"),)
    extents = Extents(Guesses((guess,), {"batch": 3, "seq": 11}), found)
    inputs = assemble(extents, {}, stated, "2 trial runs")
    assert [one.field for one in inputs.inferred] == ["dims.seq"]
    assert inputs.dims["batch"] == Dim(max=8)


def test_multiples_are_expressions() -> None:
    steps = (Extent("ids.1", 1, 16, 32, "ran at 32 and 512, multiples of 32"),)
    inputs = made(extents=steps)
    assert inputs.inputs[0].shape == [3, "32 * sequence"]
    assert inputs.dims == {"sequence": Dim(max=16)}


def test_a_constant_has_a_value_and_no_shape() -> None:
    scale = Guess("scale", DType.FLOAT32, (), InputKind.CONSTANT, value=0.5)
    inputs = assemble(Extents(Guesses((scale,), {}), ()), {}, Stated(), "the example inputs")
    assert inputs.inputs[0].value == 0.5
    assert [one.field for one in inputs.inferred] == ["inputs[0].value"]


def test_dims_that_no_input_has_are_named() -> None:
    stated = Stated((), {"seq": Dim(max=8), "batch": Dim(max=8)})
    assert unused_dims(made(stated), stated) == ["seq"]
