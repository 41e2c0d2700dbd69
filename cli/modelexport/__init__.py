"""Export PyTorch models to verified ONNX files.

`export` exports and verifies a module that lives in this process, and `verify` compares an existing
ONNX file with one. `submit` creates a ModelExport in a cluster.
"""

from __future__ import annotations

from modelexport.errors import ExportError
from modelexport.live import export, verify
from modelexport.result import Result

__all__ = ["ExportError", "Result", "export", "verify"]
