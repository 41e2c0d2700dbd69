"""The pod's process: `python -m modelexport_exporter`.

The process that workers are forked from starts first: what it imports takes longer than all that
this one does before the first worker.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime

from modelexport_exporter.isolation.prctl import set_non_dumpable
from modelexport_exporter.isolation.server import start_early

_LOG_LEVEL_ENV = "MODELEXPORT_LOG_LEVEL"  # as in modelexport_api.pod, which imports pydantic
_ABOVE_INFO = ("warning", "error")


def main() -> int:
    """Run the export that the environment describes; return the exit code."""
    set_non_dumpable()
    start_early()
    if os.environ.get(_LOG_LEVEL_ENV) not in _ABOVE_INFO:
        # A line of `core.log`, whose imports take longer.
        line = {"time": datetime.now(UTC).isoformat(), "level": "info", "message": "started"}
        sys.stderr.write(json.dumps(line) + "\n")
    from modelexport_exporter.pod import run

    return run()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # No teardown: nothing runs any more in the process that has the credentials.
    os._exit(code)
