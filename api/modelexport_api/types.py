"""The constrained plain types that the spec is made of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

Uri = Annotated[
    str,
    StringConstraints(pattern=r"^(s3://[^/]+/.*|file:///.*)$", max_length=2048),
]
Identifier = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$", min_length=1, max_length=128)
]
DimName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", min_length=1, max_length=63)
]
DimSize = Annotated[int, Field(ge=0, le=2**31 - 1)]
ModuleName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$", min_length=1, max_length=256)
]
Callable = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*$", max_length=256),
]
"""`package.module:callable`."""

MAX_DEPTH = 64
Finite = Annotated[float, Field(allow_inf_nan=False)]


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever YAML holds
    """Refuse what YAML can say and JSON cannot: dates, binary data, .inf, cycles.

    The API server never sends it; a file read by the command line may hold it. Depth is limited
    for both: a value that the serializer gives up on would never get an answer.
    """
    if _deeper(value, MAX_DEPTH):
        raise ValueError(f"expected at most {MAX_DEPTH} levels of nesting")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected values that JSON can hold: {error}") from None
    return value


def _deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for entry in level for child in _children(entry)]
        if not level:
            return False
    return True


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


FreeForm = Annotated[dict[str, Any], AfterValidator(_plain)]
AnyJson = Annotated[Any, AfterValidator(_plain)]
"""Any value that JSON can hold, null included."""


def is_glob(uri: str) -> bool:
    """Tell whether a URI matches others: it holds one of the characters *, ? and [."""
    return any(character in uri for character in "*?[")
