"""From a checkpoint to a verified ONNX artifact: the pod's process and the local runner.

A light supervisor (`pipeline`) fetches and publishes and never imports torch; everything that runs
a user's code or holds weights happens in child processes (`workers`), whose death is a failure like
any other. Packages import from lower floors only: `layers` in pyproject.toml lists them.
"""

from __future__ import annotations

import os

# onnxruntime reads it when it is imported. Otherwise it sends the names and hashes of models to its
# makers, and leaves an identifier in the user's cache.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
