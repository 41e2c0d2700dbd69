"""An exception that nobody expected: the log gets the traceback, the user a failure to report."""

from __future__ import annotations

import traceback

from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation.death import crashed


def unexpected_error(error: Exception, log: Log) -> ExportFailure:
    """Write the traceback to the log, and return the failure that the user sees."""
    log.log("error", printable("".join(traceback.format_exception(error))))
    return crashed(f"{type(error).__name__}: {error}", None)
