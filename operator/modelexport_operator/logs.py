"""Logging of the operator: one JSON object per line, without objects of the cluster.

Manifests may contain credentials in a podTemplate's env; so the operator never logs objects, and
kopf, which does so at lower levels, logs warnings only.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Protocol

_IDENTITY = ("namespace", "name", "uid", "generation")


class Subject(Protocol):
    """An object that a line is about."""

    @property
    def uid(self) -> str:
        """Return its uid."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def namespace(self) -> str:
        """Return its namespace."""


def about(subject: Subject | None, **more: object) -> dict[str, Any]:
    """Return `extra` for a line about an object: its identity, and further fields."""
    found = {key: getattr(subject, key, None) for key in _IDENTITY}
    fields = {key: value for key, value in {**found, **more}.items() if value not in {None, ""}}
    return {"fields": fields}


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object; `extra={"fields": {...}}` adds fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """Formats a record for people; the fields are at the end of the first line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line without an exception."""
        fields = getattr(record, "fields", {})
        line = super().formatMessage(record)
        return " ".join([line, *(f"{key}={value}" for key, value in fields.items())])


def configure(style: str, level: str = "info") -> None:
    """Write messages of at least this level to stderr, as JSON or as text."""
    handler = logging.StreamHandler(sys.stderr)
    text = TextFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonFormatter() if style == "json" else text)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("kopf").setLevel(max(logging.WARNING, logging.getLogger().level))
