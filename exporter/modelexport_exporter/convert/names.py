"""Unique names in a graph: every value has its own, and no output is an input by another name.

torch assigns the declared names without checking whether an internal value has the same one;
onnxruntime refuses such a file. Names of inputs are kept, then those of outputs, then those of
weights; other values are renamed.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir
from onnx_ir.passes.common import NameFixPass, OutputFixPass


def make_names_unique(model: ir.Model) -> ir.Model:
    """Return the model with internal values renamed where they clash."""
    return name_outputs(model, ())


def name_outputs(model: ir.Model, names: Sequence[str]) -> ir.Model:
    """Return the model with these names of its outputs, and other values renamed where they clash.

    Outputs beyond the names keep theirs.
    """
    inputs = [value.name for value in model.graph.inputs]
    OutputFixPass()(model)
    for value, name in zip(model.graph.inputs, inputs, strict=True):
        value.name = name  # the pass gives a returned input's name to the output
    for value, own in zip(model.graph.outputs, names, strict=False):
        value.name = own
    NameFixPass()(model)
    return model
