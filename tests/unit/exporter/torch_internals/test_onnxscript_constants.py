"""Constants of the optimizer's rules: two that a rule names alike are two."""

from __future__ import annotations

import onnx_ir as ir
import onnxscript
import pytest
from onnxscript.rewriter import RewriterContext

from modelexport_exporter.torch_internals.onnxscript_constants import constants_have_own_names

TWO_CLIPS_OF_X = """
<ir_version: 10, opset_import: ["": 20]>
graph (float[2] x) => (float[2] wide, float[2] narrow)
<float zero = {0.0}, float one = {1.0}, float four = {4.0}>
{
    above = Clip(x, zero)
    wide = Clip(above, zero, four)
    over = Clip(x, one)
    narrow = Clip(over, one, four)
}
"""


@pytest.fixture
def optimized() -> ir.Model:
    model = ir.from_onnx_text(TWO_CLIPS_OF_X)
    with constants_have_own_names(model):
        onnxscript.optimizer.optimize_ir(model)
    return model


def bounds(model: ir.Model) -> dict[str, float]:
    """Return the lower bound of each output's Clip, read by its name from the graph."""
    found = {}
    for output in model.graph.outputs:
        producer = output.producer()
        assert producer is not None
        assert producer.op_type == "Clip"
        low = producer.inputs[1]
        assert low is not None
        registered = model.graph.initializers[str(low.name)]
        assert registered.const_value is not None
        found[str(output.name)] = float(registered.const_value.numpy())
    return found


def test_each_clip_keeps_its_bounds(optimized: ir.Model) -> None:
    assert sum(node.op_type == "Clip" for node in optimized.graph) == 2  # the rule has run
    assert bounds(optimized) == {"wide": 0.0, "narrow": 1.0}


FOLDED = """
<ir_version: 10, opset_import: ["": 20]>
graph (float[1, 1, 4, 4] x) => (float[1, 1, 4, 4] y)
<float[1, 1, 1, 1] weight = {3.0}, float[1] zero = {0.0}, float[1] one = {1.0},
 float[1] four = {4.0}>
{
    a = Conv(x, weight)
    y = BatchNormalization(a, four, zero, zero, one)
}
"""


def test_a_weight_into_which_a_layer_is_folded_keeps_its_name() -> None:
    model = ir.from_onnx_text(FOLDED)
    with constants_have_own_names(model):
        onnxscript.optimizer.optimize_ir(model)
    (node,) = model.graph
    factor = model.graph.initializers["weight"]
    assert node.inputs[1] is factor
    assert factor.const_value is not None
    assert factor.const_value.numpy().item() == pytest.approx(12, rel=1e-4)


def test_patch_ends_with_its_block(optimized: ir.Model) -> None:
    before = RewriterContext.initializer
    with constants_have_own_names(optimized):
        assert RewriterContext.initializer is not before
    assert RewriterContext.initializer is before
