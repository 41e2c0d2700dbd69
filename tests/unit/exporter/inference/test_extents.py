"""Which sizes are found for models that accept some: the models are functions on sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from modelexport_api.spec import DType
from modelexport_exporter.inference.extents import Extent, find_extents, with_common_sizes
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses

Takes = Callable[[Mapping[str, int]], bool]


def guesses(**sizes: int) -> Guesses:
    one = Guess("x", DType.FLOAT32, (BATCH, *sizes))
    return Guesses((one,), {BATCH: 3, **sizes})


def spans(takes: Takes, found: Guesses) -> dict[str, tuple[int, int, int]]:
    extents = find_extents(lambda one: takes(one.sizes), found)
    return {one.axis: (one.step, one.low, one.high) for one in extents.found}


@pytest.mark.parametrize(
    ("takes", "expected"),
    [
        (lambda _: True, (1, 1, 512)),
        (lambda sizes: sizes["n"] <= 128, (1, 1, 128)),
        (lambda sizes: sizes["n"] >= 10, (1, 10, 512)),
        (lambda sizes: 5 <= sizes["n"] <= 77, (1, 5, 77)),
        (lambda sizes: sizes["n"] % 8 == 0, (8, 1, 64)),
        (lambda sizes: sizes["n"] % 32 == 0, (32, 1, 16)),
        (lambda sizes: sizes["n"] == 32, None),
        # a pool rounds: sizes nearby are the same to the layer behind it
        (lambda sizes: 28 <= sizes["n"] < 36, None),
    ],
)
def test_a_size_is_dynamic_as_far_as_it_is_accepted(
    takes: Takes, expected: tuple[int, int, int] | None
) -> None:
    found = spans(takes, guesses(n=32))
    assert found.get("n") == expected
    assert found[BATCH] == (1, 1, 32)


def test_a_batch_of_one_size_is_not_dynamic() -> None:
    assert spans(lambda sizes: sizes[BATCH] == 3, guesses()) == {}


def test_sizes_that_change_together_only_are_one_dim() -> None:
    first = Guess("x", DType.FLOAT32, (BATCH, "x.1"))
    second = Guess("mask", DType.BOOL, (BATCH, "mask.1"))
    found = Guesses((first, second), {BATCH: 3, "x.1": 7, "mask.1": 7})

    def takes(one: Guesses) -> bool:
        x, mask = one.inputs
        return one.shape(x) == one.shape(mask)

    extents = find_extents(takes, found)
    assert [one.axis for one in extents.found] == [BATCH, "x.1"]
    assert [one.axes for one in extents.guesses.inputs] == [(BATCH, "x.1"), (BATCH, "x.1")]


def with_unstated(*names: str) -> Guesses:
    """Return guesses of tokens whose length the user states, and of inputs beside them."""
    others = tuple(Guess(name, DType.BOOL, (BATCH, f"{name}.1")) for name in names)
    tokens = Guess("ids", DType.INT64, (BATCH, "seq"))
    sizes = {BATCH: 3, "seq": 11, **{f"{name}.1": 11 for name in names}}
    return Guesses((tokens, *others), sizes, frozenset({"seq"}), frozenset({"ids"}))


def lengths(takes: Callable[[list[int]], bool], found: Guesses) -> dict[str, str]:
    """Return the last axis of each input, after lengths were tried."""
    extents = find_extents(
        lambda one: takes([one.shape(own)[-1] for own in one.inputs]), found, {"seq"}
    )
    assert extents.found[0].axis == BATCH
    return {one.name: one.axes[-1] for one in extents.guesses.inputs}


@pytest.mark.parametrize(
    ("takes", "expected"),
    [
        (lambda own: len({*own}) == 1, ["seq", "seq", "seq"]),
        (lambda own: own[0] == own[1] and own[2] == 11, ["seq", "seq", "kinds.1"]),
        (lambda own: own[0] == own[2] and own[1] == 11, ["seq", "mask.1", "seq"]),
        # both are constants of the model, which the tokens have by chance
        (lambda own: own[1:] == [11, 11], ["seq", "mask.1", "kinds.1"]),
        # the tokens have one length only
        (lambda own: own == [11, 11, 11], ["seq", "mask.1", "kinds.1"]),
    ],
)
def test_an_axis_that_follows_a_stated_dim_has_its_name(
    takes: Callable[[list[int]], bool], expected: list[str]
) -> None:
    assert [*lengths(takes, with_unstated("mask", "kinds")).values()] == expected


def test_a_dim_ends_where_a_trial_run_would_be_too_large() -> None:
    found = guesses(n=2048, m=2048)
    tried: list[int] = []

    def takes(one: Guesses) -> bool:
        tried.append(one.elements)
        return True

    extents = {one.axis: one.high for one in find_extents(takes, found).found}
    assert extents[BATCH] == 4
    assert max(tried) <= 1 << 24


def test_what_is_stated_is_not_varied() -> None:
    found = find_extents(lambda _: True, guesses(n=16), {"n"}).found
    assert [one.axis for one in found] == [BATCH]


def test_a_size_that_weights_led_to_may_be_dynamic_all_the_same() -> None:
    found = guesses(n=16).with_known("n", 16)
    assert spans(lambda _: True, found)["n"] == (1, 1, 512)


def test_a_search_that_takes_too_long_leaves_the_rest_as_it_is() -> None:
    calls = 0

    def takes(_: Guesses) -> bool:
        nonlocal calls
        calls += 1
        if calls > 12:
            raise TimeoutError
        return True

    found = find_extents(takes, guesses(n=32, m=17)).found
    assert [one.axis for one in found] == [BATCH, "n"]


def test_the_source_says_what_ran_and_what_was_refused() -> None:
    extents = find_extents(lambda one: one.sizes["n"] <= 128, guesses(n=32)).found
    assert extents[1] == Extent("n", 1, 128, 1, "ran at 1 and 128; 129 is refused")


def test_a_size_that_a_search_ended_at_becomes_a_common_one() -> None:
    found = guesses(height=219, width=219)
    better = with_common_sizes(lambda one: 208 <= one.sizes["height"] < 240, found)
    assert (better.sizes["height"], better.sizes["width"]) == (224, 224)
