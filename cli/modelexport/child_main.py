"""The process of an export: reads the options from standard input, writes the status as JSON."""

from __future__ import annotations

import sys

from modelexport.child import OPTIONS
from modelexport_cli.export import export_checkpoint

if __name__ == "__main__":
    sys.exit(export_checkpoint(OPTIONS.validate_json(sys.stdin.read()), "json", None))
