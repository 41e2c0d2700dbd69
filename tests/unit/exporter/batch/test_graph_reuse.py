"""When a graph is used again, given how earlier checkpoints ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.batch.graph_reuse import ANOTHER_FAMILY, GIVE_UP, Reuse


def after(history: str) -> Reuse:
    """Return the state after adoptions (a), hits (h), misses (m) and losses (l)."""
    state = Reuse()
    for letter in history:
        step = {
            "a": state.record_adoption,
            "h": state.record_hit,
            "m": state.record_miss,
            "l": state.record_loss,
        }[letter]
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
    assert (state.should_rebind, state.should_adopt) == (rebinds, adopts)


@given(st.text("hm", max_size=60))
def test_a_misfit_never_costs_more_than_a_fresh_export(letters: str) -> None:
    """A graph is replaced after two misses in a row; reuse ends after three without a hit."""
    state, misses, unused = after("a"), 0, 0
    hits = 0
    for letter in letters:
        if not state.should_rebind:
            assert unused >= GIVE_UP
            return
        if letter == "h":
            state, misses, hits = state.record_hit(), 0, hits + 1
            continue
        state, misses = state.record_miss(), misses + 1
        assert state.should_adopt == (misses >= ANOTHER_FAMILY)
        if state.should_adopt:
            unused += hits == 0
            state, misses, hits = state.record_adoption(), 0, 0
