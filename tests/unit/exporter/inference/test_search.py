"""The search: on functions that refuse all but one shape."""

from __future__ import annotations

import time

from modelexport_api.spec import DType
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses
from modelexport_exporter.inference.refusal import Refusal
from modelexport_exporter.inference.repairs import Known
from modelexport_exporter.inference.search import search

KNOWN = Known((), DType.FLOAT32)
FIRST = Guesses((Guess("x", DType.FLOAT32, (BATCH, "x.1")),), {BATCH: 3, "x.1": 11})


def later(seconds: float = 60.0) -> float:
    return time.monotonic() + seconds


def test_a_guess_that_is_accepted_needs_one_run() -> None:
    found = search(FIRST, lambda _: None, KNOWN, later())
    assert (found.guesses, found.refusal, found.runs) == (FIRST, None, 1)


def test_each_refusal_leads_further() -> None:
    def refused(guesses: Guesses) -> Refusal | None:
        shape = guesses.shape(guesses.inputs[0])
        if len(shape) != 3:
            return Refusal(
                f"ValueError: not enough values to unpack (expected 3, got {len(shape)})"
            )
        if shape[2] != 20:
            text = f"RuntimeError: input.size(-1) must be 20, got {shape[2]}"
            return Refusal(text, 2)
        return None

    found = search(FIRST, refused, KNOWN, later())
    assert found.refusal is None
    assert found.guesses.shape(found.guesses.inputs[0])[2] == 20
    assert found.runs < 30


def test_what_got_furthest_is_returned_where_nothing_is_accepted() -> None:
    def refused(guesses: Guesses) -> Refusal:
        rank = len(guesses.inputs[0].axes)
        return Refusal("RuntimeError: no", ops=7 if rank == 4 else 0)

    found = search(FIRST, refused, KNOWN, later())
    assert found.refusal is not None
    assert found.refusal.ops == 7
    assert len(found.guesses.inputs[0].axes) == 4


def test_no_guess_is_too_large_to_run() -> None:
    tried: list[int] = []

    def refused(guesses: Guesses) -> Refusal:
        tried.append(guesses.elements)
        return Refusal("RuntimeError: input is too small")

    search(FIRST, refused, KNOWN, later())
    assert max(tried) <= 1 << 24


def test_the_search_ends_in_time() -> None:
    found = search(FIRST, lambda _: Refusal("RuntimeError: no"), KNOWN, time.monotonic() - 1)
    assert found.runs == 1
