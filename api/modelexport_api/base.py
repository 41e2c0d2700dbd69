"""The base of all API types: camelCase in YAML and JSON, unknown fields rejected."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class ApiModel(BaseModel):
    """A value of the API: immutable, snake_case in Python, camelCase in YAML and JSON."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        use_enum_values=False,
    )

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object as Kubernetes stores it: camelCase, absent instead of null."""
        wire: dict[str, Any] = self.model_dump(by_alias=True, exclude_none=True, mode="json")
        return wire


def truncate(text: str, length: int) -> str:
    """Return at most `length` characters of a text."""
    return text if len(text) <= length else text[: length - 1] + "…"
