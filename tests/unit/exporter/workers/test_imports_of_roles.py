"""What the processes that verify import: the judge no torch, the reference no onnxruntime."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("role", "unneeded"), [("judge", "torch"), ("reference", "onnxruntime")], ids=str
)
def test_a_role_does_not_import_the_other_side(role: str, unneeded: str) -> None:
    code = f"import sys, modelexport_exporter.workers.{role}; sys.exit({unneeded!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
