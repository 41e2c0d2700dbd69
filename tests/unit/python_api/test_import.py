"""import modelexport, and the wheel's promise of types."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import pytest


@pytest.mark.parametrize(
    "heavy", ["torch", "numpy", "onnx", "onnxruntime", "kubernetes", "cloudpickle"]
)
def test_import_is_light(heavy: str) -> None:
    program = f"import sys, modelexport; print({heavy!r} in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert found.stdout == "False\n"


def test_it_is_typed() -> None:
    assert files("modelexport").joinpath("py.typed").is_file()
