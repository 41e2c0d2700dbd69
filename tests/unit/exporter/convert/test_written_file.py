"""Files of torch's TorchScript exporter: sequences whose elements have no type."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import onnx_ir as ir

from modelexport_exporter.convert.written_file import read_written

LOOP = """
<ir_version: 8, opset_import: ["": 17]>
net (float[n] x) => (float[m] y) {
  count = Constant <value = int64 {3}> ()
  go = Constant <value = bool {1}> ()
  none = SequenceEmpty ()
  parts = Loop <body = rounds (int64 i, bool c, seq(float[k]) before) => (bool go_on, seq(float[k]) after) {
    go_on = Identity(c)
    after = SequenceInsert(before, x)
  }> (count, go, none)
  y = ConcatFromSequence <axis = 0> (parts)
}
"""  # noqa: E501 (the parser takes no line breaks there)


def test_sequences_without_a_type_have_none(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(LOOP)
    body = next(node for node in model.graph.node if node.op_type == "Loop").attribute[0].g
    for value in (body.input[2], body.output[1]):
        value.type.sequence_type.elem_type.Clear()
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    read = read_written(path)
    body_read = next(n for n in read.graph if n.op_type == "Loop").attributes["body"].as_graph()
    assert body_read.inputs[2].type is None
    assert read.graph.inputs[0].type == ir.TensorType(ir.DataType.FLOAT)
