"""The name that was meant: pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

CERTAIN = 0.8
"""Similarity of two names from which one is a misspelling of the other."""
_CLOSE = 0.6


def nearest(name: str, known: Iterable[str], cutoff: float = _CLOSE) -> str | None:
    """Return the known name that is most similar; spelling with case and `_` comes first."""
    by_form = {_bare(entry): entry for entry in known}
    found = difflib.get_close_matches(_bare(name), list(by_form), 1, cutoff)
    return by_form[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did you mean x?`, or nothing."""
    found = nearest(name, known)
    return f"did you mean `{found}`?" if found is not None else ""


def is_same_name(one: str, other: str) -> bool:
    """Return whether names differ in case, `_` and `-` only: `max_failed`, `maxFailed`."""
    return _bare(one) == _bare(other)


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()) or name
