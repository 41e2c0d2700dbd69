"""Runs command lines one after the other, each in its directory: what each prints and imports.

Reads [[directory, arguments], …] from standard input, writes a list of answers.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path

from modelexport_cli.main import main

HEAVY = {"torch", "boto3", "onnx", "onnxruntime", "numpy"}


def answer(directory: str, arguments: list[str]) -> dict[str, object]:
    """Return the exit code and the output of a command line."""
    os.chdir(directory)
    before = {path.name for path in Path().iterdir()}
    code: object
    with io.StringIO() as output:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                code = main(arguments)
            except SystemExit as end:
                code = end.code
        text = output.getvalue()
    written = sorted({path.name for path in Path().iterdir()} - before)
    imported = sorted(HEAVY & set(sys.modules))
    return {"code": code, "output": text, "imported": imported, "written": written}


if __name__ == "__main__":
    json.dump([answer(*wanted) for wanted in json.load(sys.stdin)], sys.stdout)
