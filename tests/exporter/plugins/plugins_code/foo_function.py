"""A body for custom_domain::Foo, so that any runtime can run it."""

from onnx import helper

onnx_functions = [
    helper.make_function(
        "custom_domain",
        "Foo",
        ["input1", "input2"],
        ["result"],
        [
            helper.make_node("CastLike", ["factor1", "input1"], ["f1"]),
            helper.make_node("CastLike", ["factor2", "input1"], ["f2"]),
            helper.make_node("Mul", ["input1", "f1"], ["a"]),
            helper.make_node("Mul", ["input2", "f2"], ["b"]),
            helper.make_node("Add", ["a", "b"], ["result"]),
        ],
        [helper.make_opsetid("", 18)],
        ["attr1", "attr2"],
    )
]
for _node, _name, _kind in zip(
    ("factor1", "factor2"), ("attr1", "attr2"), ("value_float", "value_int"), strict=True
):
    _constant = helper.make_node("Constant", [], [_node])
    _attribute = _constant.attribute.add()
    _attribute.name = _kind
    _attribute.ref_attr_name = _name
    _attribute.type = 1 if _kind == "value_float" else 2
    onnx_functions[0].node.insert(0, _constant)
