"""Both commands of each benchmark case start, and build the case's network."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
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


@pytest.mark.parametrize(
    "networks",
    [
        pytest.param(["digits", "decoder"], id="imports torch only"),
        pytest.param([case.name for case in CASES], id="all", marks=pytest.mark.nightly),
    ],
)
def test_the_hand_written_script_builds_its_network(networks: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUILD_ALL, *networks],
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
