"""Logging of the operator: one JSON object per line, without objects of the cluster.

Manifests may contain credentials in a podTemplate's env; so the operator never logs objects, and
kopf, which does so at lower levels, logs warnings only.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


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


def configure(style: str, level: str = "info") -> None:
    """Write messages of at least this level to stderr, as JSON or as text."""
    handler = logging.StreamHandler(sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonFormatter() if style == "json" else text)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("kopf").setLevel(max(logging.WARNING, logging.getLogger().level))
