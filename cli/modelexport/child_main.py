"""The process of an export: `FILE` has the options; standard output gets the status as JSON."""

from __future__ import annotations

import sys
from pathlib import Path

from modelexport.child import OPTIONS
from modelexport_cli.export import export_checkpoint
from modelexport_exporter.isolation.prctl import die_with_parent

if __name__ == "__main__":
    die_with_parent()
    options = OPTIONS.validate_json(Path(sys.argv[1]).read_bytes())
    sys.exit(export_checkpoint(options, "json", None))
