"""The texts of torch and onnxruntime that decide something here: the only such table.

Both raise RuntimeError for many causes, so the message is all that distinguishes them. A test
provokes each message, and fails when a version words it differently.
"""

from __future__ import annotations

import re

# torch, of any operator.
ALLOCATION_FAILED = "can't allocate memory"

# torch.load with weights_only=True.
REFUSED_GLOBAL = re.compile(r"GLOBAL (\S+)")
"""The class or function that the unpickler refused."""
WRONG_CONTAINER = re.compile(r"Can only (SETITEM|APPEND|extend|append).*but got <class '(.+)'>")
"""The pickle's operation, and the class that it met instead of a dict or a list."""
UNKNOWN_OPCODE = "Unsupported operand"
"""A pickle protocol other than 2, or damaged bytes."""
MAIN_MODULE = "__main__"
"""A class of the script that saved the checkpoint."""

# torch.export.load, in lower case.
WEIGHTS_ONLY = "weights only"

# torch.export.
CONSTRAINTS_VIOLATED = ("Constraints violated", "Specializations unexpectedly required")
CONFLICTING_RANGES = "conflicts between user-specified ranges and inferred ranges"
"""Where the graph holds one value only of a number that is an input."""
DECIDED_BY_DATA = "data-dependent expression"
"""Where Python needs the number or the truth of what a tensor holds."""
INVALID_RANGES = "Invalid ranges"
"""For a dim with a maximum of 0 or 1."""
NO_SIZES_LEFT = "Cannot create Dim with inconsistent"
"""For a dim that a branch of the model narrows, where a declared size is outside."""
OUTPUT_NOT_FLATTENED = ("pytree-flattenable", "not a known type")
"""An output of a class that is not registered with pytree."""
SIZE_GUARD = ("[guard added]", "Eq(")
"""Format and arguments of the log record for a size that becomes constant."""

INNER_WORDS = re.compile(
    r"\(unhinted: .*?\)(?=[ .]|$)\.?|\(Size-like symbols: [^)]*\)\.?|User Stack.*|"
    r"The following call raised this error:.*|Please file an issue[^.]*\.?|"
    r"Consider annotating your code using torch\._check\*?\(\)\.?|Explanation: | in file `[^`]*`|"
    r"For the potential source, you can refer to the following model attribute: \w+\.|"
    r"This typically means our tracing system encountered an op that we can't trace through\.|"
    r"with `torch\._dynamo\.config\.\w+=\w+`"
)
"""What torch.export says of its own state and to its own developers."""
NO_GPU = ("Found no NVIDIA driver", "not compiled with CUDA", "No CUDA GPUs are available")

# torch.onnx.
NO_ONNX_FUNCTION = "No ONNX function found"
SURPLUS_OUTPUT_NAMES = re.compile(
    r"output names provided \(\d+\) exceeded number of outputs \((\d+)\)"
)
GRAPH_WORDS = re.compile(
    r" Please feel free to request support.*?issues\S*|"
    r"\s*\[Caused by the value .*?in the TorchScript graph\..*",
    re.DOTALL,
)
"""What torch.onnx's TorchScript exporter says to its own developers, and of its graph."""

# onnxruntime.
UNKNOWN_OPERATOR = re.compile(
    r"Fatal error: ([\w.\-]*):([\w.\-]+)\(-?\d+\) is not a registered function"
)
NO_KERNEL_TO_LOAD = ("NOT_IMPLEMENTED", "Type Error")
NO_KERNEL_TO_RUN = ("NOT_IMPLEMENTED", "does not support double", "does not support float16")
ONNXRUNTIME_OUT_OF_MEMORY = (
    "failed to allocate memory",
    "bad_alloc",
    "out of memory",
    "bad allocation",
)
"""In lower case."""
