"""When a graph is used again, by tables of what became of the checkpoints before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.batch.graph_reuse import ANOTHER_FAMILY, GIVE_UP, Reuse


def after(history: str) -> Reuse:
    """Return the state after adoptions (a), hits (h), misses (m) and losses (l)."""
    state = Reuse()
    for letter in history:
        step = {"a": state.adopted, "h": state.hit, "m": state.missed, "l": state.lost}[letter]
        state = step()
    return state


@pytest.mark.parametrize(
    ("history", "rebinds", "adopts"),
    [
        ("", False, True),
        ("a", True, False),
        ("ah", True, False),
        ("ahm", True, False),
        ("ahmm", True, True),
        ("ahmh", True, False),
        ("ahmhm", True, False),
        ("ahmma", True, False),
        ("al", False, True),
        ("ammammamma", False, False),
        ("ammammammah", False, False),
        ("ammahmmamma", True, False),
    ],
)
def test_the_next_checkpoint(history: str, *, rebinds: bool, adopts: bool) -> None:
    state = after(history)
    assert (state.rebinds, state.adopts) == (rebinds, adopts)


@given(st.text("hm", max_size=60))
def test_a_stranger_never_costs_more_than_a_fresh_export(letters: str) -> None:
    """A graph is replaced only after two misses in a row, and given up after three barren ones."""
    state, misses, barren = after("a"), 0, 0
    hits = 0
    for letter in letters:
        if not state.rebinds:
            assert barren >= GIVE_UP
            return
        if letter == "h":
            state, misses, hits = state.hit(), 0, hits + 1
            continue
        state, misses = state.missed(), misses + 1
        assert state.adopts == (misses >= ANOTHER_FAMILY)
        if state.adopts:
            barren += hits == 0
            state, misses, hits = state.adopted(), 0, 0
