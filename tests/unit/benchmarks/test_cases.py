"""Both commands of each benchmark case start, and build the case's network."""

from __future__ import annotations

import os
import subprocess
import sys

import yaml
from benchmarks.cases import CASES, PYTHONPATH

from modelexport_api.resource import parse

BUILD_ALL = """\
import sys, torch
from benchmarks import handwritten, networks
with torch.device("meta"):
    for name in sys.argv[1:]:
        networks.__dict__[name]()
"""


def test_the_hand_written_script_builds_every_network() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUILD_ALL, *(case.name for case in CASES)],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_manifest_is_valid() -> None:
    for case in CASES:
        parse(yaml.safe_load(case.manifest("bucket", "http://127.0.0.1:1", "region")))
