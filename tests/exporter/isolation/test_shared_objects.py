"""torch's shared objects are loaded before `import torch`, by a thread that has ended then."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, threading
from pathlib import Path
from modelexport_exporter.torch_internals import shared_objects

with shared_objects.loading():
    pass
maps = Path("/proc/self/maps").read_text()
assert all(name in maps for name in (shared_objects.DEPENDENCIES, shared_objects.EXTENSION)), maps
assert "torch" not in sys.modules
assert threading.active_count() == 1
import torch
print(torch.nn.Linear(2, 2)(torch.ones(3, 2)).shape)
"""
WITHOUT = """
import importlib.util
importlib.util.find_spec = lambda name: None
from modelexport_exporter.torch_internals import shared_objects
with shared_objects.loading():
    print("block")
"""


def test_import_torch_finds_them_loaded() -> None:
    assert run(PROGRAM) == "torch.Size([3, 2])\n"


def test_an_environment_without_torch() -> None:
    assert run(WITHOUT) == "block\n"


def run(program: str) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
