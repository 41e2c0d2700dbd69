"""The part of the API that reading objects beyond those of the watches needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class ReadApi(Protocol):
    """Sends requests without a body."""

    async def call(
        self,
        method: str,
        path: str,
        resource: str,
        *,
        query: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request."""
