"""A pod of a batch in a process of its own, with `batch_workers`.

    python -m batch_pod RESOURCE_JSON WORK_DIR SHARE SHARES

Prints the PodResult.
"""

from __future__ import annotations

import sys
from pathlib import Path

from batch_workers import PRELOAD, SETTINGS
from batches import OneByOne
from modelexport_api.resource import ModelExport
from modelexport_exporter.batch.run import Part, run_share
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings


def main(resource: str, work_dir: str, share: str, shares: str) -> int:
    settings = Settings(Path(work_dir), **SETTINGS, preload=PRELOAD)
    part = Part(int(share), int(shares))
    export = ModelExport.model_validate_json(resource)
    result = run_share(export, settings, JsonLog(sys.stderr), part, OneByOne).result
    print(result.model_dump_json(by_alias=True))
    return int(result.exit_code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
