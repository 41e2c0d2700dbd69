"""`python -m modelexport_operator --config FILE`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from pathlib import Path

from modelexport_operator import app, logs
from modelexport_operator.certificate import CertificateError
from modelexport_operator.settings import SettingsError, load

BAD_CONFIGURATION = 2
JSON_DEPTH = 10_000
"""The API server accepts objects nested this deeply; one of them must not end the watches."""


def main(arguments: list[str] | None = None) -> int:
    """Run the operator and return its exit code."""
    parser = argparse.ArgumentParser(prog="modelexport-operator", description=app.__doc__)
    parser.add_argument("--config", type=Path, required=True, help="YAML file with the settings")
    chosen = parser.parse_args(arguments)
    try:
        settings = load(chosen.config)
    except SettingsError as error:
        sys.stderr.write(f"invalid configuration in {chosen.config}:\n{error}\n")
        return BAD_CONFIGURATION
    sys.setrecursionlimit(2 * JSON_DEPTH)
    logs.configure(settings.log_format, settings.log_level)
    gc.freeze()  # what was imported stays: no collection goes through its 80,000 objects again
    try:
        return asyncio.run(app.run(settings))
    except CertificateError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_CONFIGURATION


if __name__ == "__main__":
    sys.exit(main())
