"""The constrained basic types of the spec."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from modelexport_api.sizes import FORM

_SEGMENT = r"[^/.\x00-\x1f][^/\x00-\x1f]*|\.[^/.\x00-\x1f][^/\x00-\x1f]*|\.\.[^/\x00-\x1f]+"
"""A part of a path that is neither `.` nor `..`: neither may be in a path of a claim."""
CLAIM_PATTERN = rf"pvc://[a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?(/({_SEGMENT})?)+"
URI_PATTERN = rf"^(s3://[^/]+/.*|{CLAIM_PATTERN}|file:///.*)$"
Uri = Annotated[str, StringConstraints(pattern=URI_PATTERN, max_length=2048)]
Identifier = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$", min_length=1, max_length=128)
]
DimName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", min_length=1, max_length=63)
]
SizeOfDim = Annotated[str, StringConstraints(pattern=FORM, min_length=1, max_length=63)]
"""A dim's name, or an expression: `n - 1`, `past + n`."""
DimSize = Annotated[int, Field(ge=0, le=2**31 - 1)]
Shape = Annotated[list[DimSize | SizeOfDim], Field(max_length=16)]
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


def _require_json(value: Any) -> Any:  # noqa: ANN401 - any YAML value
    """Reject values that YAML allows and JSON does not: dates, binary data, .inf, cycles.

    They can occur in a file, not in an object from the API server. The depth is limited for both,
    because the serializer fails on deep nesting.
    """
    if _is_deeper(value, MAX_DEPTH):
        raise ValueError(f"expected at most {MAX_DEPTH} levels of nesting")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected values that JSON can represent: {error}") from None
    return value


def _is_deeper(value: object, limit: int) -> bool:
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


FreeForm = Annotated[dict[str, Any], AfterValidator(_require_json)]
AnyJson = Annotated[Any, AfterValidator(_require_json)]
"""Any JSON value, including null."""


def is_glob(uri: str) -> bool:
    """Return whether a URI is a glob: it contains one of the characters *, ? and [."""
    return any(character in uri for character in "*?[")
