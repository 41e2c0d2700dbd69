"""How forward is called: from the manifest's inputs to `(args, kwargs)`, and back to leaf tensors.

`bind_inputs` turns a spec into one whose inputs are tensors only, one for each leaf of what forward
takes, in the order in which torch.onnx numbers them; and a `Call` that builds forward's arguments
from those leaves. Everything else (dims, samples, contract, names) sees leaves alone.
"""

from modelexport_exporter.call.adapters import TorchScriptCall, torchscript_call, with_own_names
from modelexport_exporter.call.call import Call, Numbers
from modelexport_exporter.call.lowering import BoundInputs, bind_inputs
from modelexport_exporter.call.outputs import (
    complex_output,
    flatten,
    output_paths,
    program_output_paths,
    register_classes,
)
from modelexport_exporter.core.input_kinds import NUMBERS

__all__ = [
    "NUMBERS",
    "BoundInputs",
    "Call",
    "Numbers",
    "TorchScriptCall",
    "bind_inputs",
    "complex_output",
    "flatten",
    "output_paths",
    "program_output_paths",
    "register_classes",
    "torchscript_call",
    "with_own_names",
]
