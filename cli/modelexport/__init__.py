"""Export PyTorch models to verified ONNX files.

`export` exports and verifies a module that lives in this process, and `verify` compares an existing
ONNX file with one. Both return a `Result`, or raise an `ExportError`. `submit` creates a
ModelExport in a cluster.
"""

from __future__ import annotations

from modelexport.live import export, verify
from modelexport.result import Result
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.submission import Submission, submit
from modelexport_cli.export_error import ExportError

__all__ = ["ClusterError", "ExportError", "Result", "Submission", "export", "submit", "verify"]
