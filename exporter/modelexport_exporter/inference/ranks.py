"""Other numbers of axes to try after a refusal: pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from modelexport_api.spec import DType
from modelexport_exporter.inference.guess import Guess, Guesses, new_axes
from modelexport_exporter.inference.refusal import Refusal

_RANKS = (2, 3, 4, 1, 5, 0)
_RANKS_DIFFER = re.compile(r"same number of dimensions: got (\d+) and (\d+)")
_EXPECTED = re.compile(r"values to unpack \(expected (\d+)")


def unpacked(guesses: Guesses, refusal: Refusal) -> Iterator[Guesses]:
    """Yield inputs whose first axis has as many parts as the code unpacks: `src, dst = edges`."""
    found = _EXPECTED.search(refusal.text)
    if found is None:
        return
    for one in changeable(guesses):
        if one.is_tensor and one.axes:
            axis = f"{one.name}.0"
            changed = replace(one, axes=(axis, *one.axes[1:]))
            yield guesses.with_known(axis, int(found[1])).with_input(changed)


def ranks_that_meet(guesses: Guesses, refusal: Refusal) -> Iterator[Guesses]:
    """Yield other ranks of all inputs of a kind, where ranks differ in a concatenation.

    Rows of numbers are joined with rows of tables: each index has a rank less than its row, and an
    input that is changed alone meets the next one.
    """
    found = _RANKS_DIFFER.search(refusal.text)
    if found is None:
        return
    difference = abs(int(found[1]) - int(found[2]))
    tensors = [one for one in changeable(guesses) if one.is_tensor]
    integers = [one for one in tensors if one.dtype is DType.INT64]
    others = [one for one in tensors if one.dtype is not DType.INT64]
    for group in filter(None, (integers, others)):
        for change in (-difference, difference):
            if min(len(one.axes) for one in group) + change < 1:
                continue
            changed = guesses
            for one in group:
                changed = _with_rank(changed, one, len(one.axes) + change)
            yield changed


def ranks_in_text(guesses: Guesses, refusal: Refusal) -> Iterator[Guesses]:
    """Yield ranks that the text names next to the one that was passed: `expected 4, got 2`."""
    numbers = refusal.numbers
    named = [int(text) for text in _dimensional(refusal.text)]
    for one in changeable(guesses):
        rank = len(one.axes)
        if not one.is_tensor or (rank not in numbers and not named):
            continue
        for wanted in dict.fromkeys([*named, *numbers]):
            if wanted != rank and wanted in _RANKS:
                yield _with_rank(guesses, one, wanted)


def _dimensional(text: str) -> Iterator[str]:
    """Yield `4` of `4D`, `4-D` and `4 dimensions`."""
    words = text.replace("-", " ").replace(",", " ").split()
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word[:1].isdigit() and word[1:2] in {"D", "d"}:
            yield word[:1]
        elif word.isdigit() and following.lower().startswith("dim"):
            yield word


def other_ranks(guesses: Guesses) -> Iterator[Guesses]:
    """Yield every other rank of one input."""
    for one in changeable(guesses):
        if one.is_tensor:
            for rank in _RANKS:
                if rank != len(one.axes):
                    yield _with_rank(guesses, one, rank)


def _with_rank(guesses: Guesses, guess: Guess, rank: int) -> Guesses:
    # Sizes that are known belong to the axes of another rank.
    axes, _ = new_axes(guess.name, rank, {})
    axes = tuple(f"{axis}'" if axis in guesses.known else axis for axis in axes)
    return guesses.with_input(replace(guess, axes=axes))


def changeable(guesses: Guesses) -> Iterator[Guess]:
    """Yield the inputs whose shape the user does not state."""
    return (one for one in guesses.inputs if one.name not in guesses.said)
