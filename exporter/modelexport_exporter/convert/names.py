"""Names that a graph may hold: every value its own, and no output that is an input by another name.

torch writes the names that were asked for over its own and does not look whether an internal value
has the same one; onnxruntime refuses such a file. Names of inputs stay, then those of outputs, then
those of weights; what is left gives way.
"""

from __future__ import annotations

import onnx_ir as ir
from onnx_ir.passes.common import NameFixPass, OutputFixPass


def make_names_unique(model: ir.Model) -> ir.Model:
    """Return the model with internal values renamed where they clash."""
    inputs = [value.name for value in model.graph.inputs]
    OutputFixPass()(model)
    for value, name in zip(model.graph.inputs, inputs, strict=True):
        value.name = name  # the pass gives a returned input's name to the output
    NameFixPass()(model)
    return model
