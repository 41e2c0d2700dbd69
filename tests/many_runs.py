"""Pipelines one after the other in one process, with the real workers and one fork server.

    python -m many_runs WORK_DIR

A ModelExport as JSON on a line in, its PodResult on a line out. A pipeline that raises ends it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run


def main() -> None:
    settings = Settings(Path(sys.argv[1]))
    for line in sys.stdin:
        result = run(ModelExport.model_validate_json(line), settings, JsonLog(sys.stderr))
        print(result.model_dump_json(by_alias=True), flush=True)


if __name__ == "__main__":
    main()
