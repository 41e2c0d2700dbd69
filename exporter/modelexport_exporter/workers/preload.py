"""Imports what all workers need, once, in the process that they are forked from.

The imports take seconds and hundreds of megabytes; forked workers share both. They run while the
checkpoint is being downloaded, as do those of the libraries that the user's code imports. Nothing
here may leave a thread or touch CUDA: neither survives a fork. onnxruntime starts a thread when it
is imported, so it is left to the workers.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os

from modelexport_exporter.isolation.shared_libraries import import_shared_libraries
from modelexport_exporter.torch_internals import shared_objects
from modelexport_exporter.torch_internals.late_modules import LATE_MODULES

WITHOUT_TORCH = (
    "numpy",
    "onnx",
    "onnx_ir",
    "sympy",
    "modelexport_exporter.core.outcome",
)
"""Imported while torch's shared objects are loaded."""
MODULES = (
    "safetensors.torch",
    "torch.onnx",
)
"""What every worker needs. onnxscript is not among it: the verification runs without."""


def import_all() -> None:
    """Import everything, single-threaded, and exclude it from garbage collection."""
    # Nearly all that imports allocate stays: each collection would scan all of it for nothing.
    gc.disable()
    threads = os.environ.get("OPENBLAS_NUM_THREADS")
    # OpenBLAS would start its threads when numpy is imported.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with shared_objects.loading():
        for name in WITHOUT_TORCH:
            importlib.import_module(name)
    for name in MODULES:
        importlib.import_module(name)
    for name in LATE_MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    import_shared_libraries()
    del os.environ["OPENBLAS_NUM_THREADS"]
    if threads is not None:
        os.environ["OPENBLAS_NUM_THREADS"] = threads
    import torch  # not before its shared objects are loaded

    # The fast path of nn.TransformerEncoder is one op that ONNX has not, fails where a mask hides
    # all of a row, and writes zeros at masked places: what is exported is the ordinary path.
    torch.backends.mha.set_fastpath_enabled(False)
    # A collection in a worker would touch, and so copy, every page that holds an object.
    gc.freeze()
    gc.enable()


import_all()
