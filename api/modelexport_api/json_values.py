"""Values that YAML and Python have and JSON, so the API server, has not: pure."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice

from modelexport_api.problem import Place, Problem
from modelexport_api.yaml_text import inline

_DEEPEST = 96
"""More than any field allows; deeper values cannot be serialized."""
_MOST = 20


def foreign_values(document: dict[str, object]) -> list[Problem]:
    """Return a problem for each value that JSON cannot represent."""
    return list(islice(_problems(document), _MOST))


def _problems(document: dict[str, object]) -> Iterator[Problem]:
    pending: deque[tuple[Place, object]] = deque([((), document)])
    while pending:
        place, value = pending.popleft()
        if len(place) > _DEEPEST:
            yield Problem(place[:3], f"found more than {_DEEPEST} levels of nesting", "fewer")
            return
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str | int | float):
                    yield Problem(place, f"found the key {key}", "text", "write it in quotes")
                elif isinstance(key, str) and _has_surrogates(key):
                    yield Problem(place, f"found the key {key!a}", "Unicode text")
            pending += [((*place, _key(key)), child) for key, child in value.items()]
        elif isinstance(value, list | tuple):
            pending += [((*place, index), child) for index, child in enumerate(value)]
        else:
            yield from _scalar(place, value)


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _key(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _scalar(place: Place, value: object) -> Iterable[Problem]:
    expected = "a value that JSON has: text, a number, true, false, a list or a mapping"
    if isinstance(value, date):
        yield Problem(place, f"found the date {value}", expected, f"write {inline(str(value))}")
    elif isinstance(value, bytes):
        yield Problem(place, "found binary data", expected, "write it as text, without !!binary")
    elif isinstance(value, float) and not math.isfinite(value):
        yield Problem(place, f"found {inline(value)}", "a finite number", "write a large one: 1e30")
    elif isinstance(value, str) and _has_surrogates(value):
        yield Problem(place, f"found {value!a}", "Unicode text", "write the characters themselves")
    elif value is not None and not isinstance(value, str | int | float):
        yield Problem(place, f"found a {type(value).__name__}", expected, "write a list or a text")
