from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.checkpoint.key_prefixes import choose, fit_names, without_wrappers

OWN = ("body.0.weight", "body.0.bias", "head.weight")


@pytest.mark.parametrize(
    ("prefix", "removed"),
    [
        ("", ""),
        ("module.", "module."),
        ("_orig_mod.module.", "_orig_mod., module."),
        ("model.", "model."),
        ("student.encoder.", "student.encoder."),
        ("module.model.", "module., model."),
    ],
)
def test_a_common_prefix(prefix: str, removed: str) -> None:
    stored = tuple(f"{prefix}{name}" for name in OWN)
    found = choose(frozenset(OWN), stored, only_part=False)
    assert set(found.names.values()) == set(OWN)
    assert found.removed == removed


@pytest.mark.parametrize(
    ("own", "stored"),
    [
        pytest.param(("module.a", "b"), ("a", "module.b"), id="segments on both sides"),
        pytest.param(("a.module.w",), ("a.w",), id="the module has one, the checkpoint none"),
    ],
)
def test_a_module_may_have_a_part_that_is_called_module(
    own: tuple[str, ...], stored: tuple[str, ...]
) -> None:
    found = choose(frozenset(own), (*stored, "module.b"), only_part=False)
    assert set(own) <= set(found.names.values())


def test_names_that_fit_stay() -> None:
    assert choose(frozenset({"module.w"}), ("module.w",), only_part=False).removed == ""


def test_two_names_never_become_one() -> None:
    found = choose(frozenset({"w"}), ("module.w", "w"), only_part=False)
    assert found.removed == ""


def test_only_a_lightning_module_may_hold_more_than_the_network() -> None:
    state = {**{f"net.{name}": 1 for name in OWN}, "loss.weight": 2}
    assert fit_names(frozenset(OWN), state) == (state, ())
    fitted, findings = fit_names(frozenset(OWN), state, only_part=True)
    assert set(fitted) == set(OWN)
    assert "loss.weight" in findings[1].requested


NAMES = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=6, unique=True)


@given(NAMES, st.sampled_from(["module.", "_orig_mod.", "module._orig_mod."]))
def test_wrapping_never_loses_a_weight(names: list[str], prefix: str) -> None:
    state = {f"{prefix}{name}.weight": name for name in names}
    own = frozenset(f"{name}.weight" for name in names)
    fitted, _ = fit_names(own, state)
    assert fitted == {f"{name}.weight": name for name in names}


@given(st.text("ab._module"))
def test_taking_wrappers_away_twice_changes_nothing(name: str) -> None:
    assert without_wrappers(without_wrappers(name)) == without_wrappers(name)
