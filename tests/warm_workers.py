"""What the fork server of a test process imports: all that any worker of a real export needs.

The product's own server (`modelexport_exporter.workers.preload`) imports what every worker needs,
and each worker the rest. Tests start hundreds of workers, so here the rest is shared as well.
A test that runs the product as a command gets the product's own server.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os

from modelexport_exporter.core import machine

MODULES = (
    "modelexport_exporter.workers.preload",
    "modelexport_exporter.workers.export",
    "modelexport_exporter.workers.resident_exporter",
    "torch.onnx._internal.exporter._compat",
    "torch.onnx._internal.exporter._torchlib.ops",
    "onnxscript.function_libs.torch_lib.ops",
    "onnxscript.optimizer",
    "torchvision",
    "transformers",
)
"""onnxruntime is missing: it starts a thread when it is imported, which no fork survives."""

for _name in MODULES:
    importlib.import_module(_name)
# For each export torch.onnx parses the source of 497 functions anew: 0.65 CPU seconds.
_apis = importlib.import_module("torch.onnx._internal.exporter._registration").onnxscript_apis
_apis.get_torchlib_ops = functools.cache(_apis.get_torchlib_ops)
_apis.get_torchlib_ops()
# As long as the process lives: as many pytest processes are as busy as this one.
machine.sharing_cpus(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))).__enter__()
gc.freeze()
