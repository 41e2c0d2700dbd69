"""The names that dims get."""

from __future__ import annotations

from modelexport_api.spec import DType
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses
from modelexport_exporter.inference.names import dim_names


def names(*inputs: Guess, stated: tuple[str, ...] = ()) -> dict[str, str]:
    guesses = Guesses(inputs, {}).with_sizes_of(axis for one in inputs for axis in one.axes)
    return dim_names(guesses, guesses.free, stated)


def test_pictures_have_height_and_width() -> None:
    picture = Guess("x", DType.FLOAT32, (BATCH, "x.1", "x.2", "x.3"))
    assert list(names(picture).values()) == ["batch", "channels", "height", "width"]


def test_tokens_have_a_sequence() -> None:
    assert names(Guess("ids", DType.INT64, (BATCH, "ids.1"))) == {
        "batch": "batch",
        "ids.1": "sequence",
    }


def test_a_second_sequence_is_named_after_its_input() -> None:
    src = Guess("src", DType.INT64, (BATCH, "src.1"))
    tgt = Guess("tgt.ids", DType.INT64, (BATCH, "tgt.1"))
    assert names(src, tgt)["tgt.1"] == "tgt_ids_sequence"


def test_a_name_that_the_user_states_stays() -> None:
    entry = Guess("ids", DType.INT64, (BATCH, "seq"))
    assert names(entry, stated=("seq",))["seq"] == "seq"


def test_names_differ_in_any_case() -> None:
    one = Guess("a", DType.FLOAT32, ("a.0", "a.1"))
    other = Guess("a_sequence", DType.FLOAT32, ("b.0", "b.1"))
    found = names(one, other)
    assert len(set(found.values())) == len(found)
