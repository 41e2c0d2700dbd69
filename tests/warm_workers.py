"""What the fork server of a test process imports: all that any worker of a real export needs.

The product's own server (`modelexport_exporter.workers.preload`) imports what every worker needs,
and each worker the rest. Tests start hundreds of workers, so here the rest is shared as well, and
what torch computes at the first export of a process: 2 of the 3 s that a small model takes.
A test that runs the product as a command gets the product's own server.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import tempfile
import threading
import warnings
from typing import Any
from unittest import mock

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

# transformers asks for GPUs when it is imported: of the driver, for no fork survives CUDA.
os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
for _name in MODULES:
    importlib.import_module(_name)
del os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"]
# For each export torch.onnx parses the source of 497 functions anew, and infers the signatures of
# 552: 0.9 CPU seconds.
_apis = importlib.import_module("torch.onnx._internal.exporter._registration").onnxscript_apis
_apis.get_torchlib_ops = functools.cache(_apis.get_torchlib_ops)
_schemas: Any = importlib.import_module("torch.onnx._internal.exporter._schemas")
_schemas.op_signature_from_function = functools.cache(_schemas.op_signature_from_function)


def _export_once() -> None:
    """Export a model, so that workers find filled what torch imports and caches on the way.

    Once torch has counted the GPUs, no fork of the process can use one; no fork survives a thread,
    such as the one that watches bars of progress.
    """
    # Not earlier: numpy, which it imports, starts no threads only where `preload` imports it.
    import torch

    bars: Any = importlib.import_module("tqdm").tqdm
    size = torch.export.Dim("n", min=2, max=9)
    no_gpu = mock.patch.object(torch._C, "_cuda_getDeviceCount", return_value=0)
    no_watch = mock.patch.object(bars, "monitor_interval", 0)
    with no_gpu, no_watch, warnings.catch_warnings(), tempfile.TemporaryDirectory() as directory:
        warnings.simplefilter("ignore")
        torch.onnx.export(
            torch.nn.Linear(4, 4),
            (torch.zeros(2, 4),),
            f"{directory}/model.onnx",
            dynamo=True,
            verbose=False,
            dynamic_shapes=({0: size},),
        )


_export_once()
assert threading.active_count() == 1
# As long as the process lives: as many pytest processes are as busy as this one.
machine.sharing_cpus(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))).__enter__()
gc.freeze()
