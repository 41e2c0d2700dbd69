"""Arrays that travel beside a JSON document, in which each is a number: its place among them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, SerializationInfo, ValidationInfo


def _put(array: Any, info: SerializationInfo) -> int:  # noqa: ANN401
    arrays: Any = info.context
    arrays.append(array)
    return len(arrays) - 1


def _take(place: Any, info: ValidationInfo) -> Any:  # noqa: ANN401
    arrays: Any = info.context
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(arrays):
        raise ValueError("no array of this message")
    return arrays[place]


Carried = Annotated[Any, PlainSerializer(_put), PlainValidator(_take)]
"""The type of an array in what is encoded with the arrays as pydantic's context."""
