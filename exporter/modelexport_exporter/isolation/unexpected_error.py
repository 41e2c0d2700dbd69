"""Reports an unexpected exception: traceback to the log, failure to the user."""

from __future__ import annotations

import traceback

from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation.death import internal_error


def unexpected_error(error: Exception, log: Log) -> ExportFailure:
    """Write the traceback to the log, and return the failure that the user sees."""
    log.log("error", printable("".join(traceback.format_exception(error))))
    return internal_error(f"{type(error).__name__}: {error}", None)
