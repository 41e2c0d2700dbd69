"""ONNX files that lie, lead out of their directory, take memory or never end."""

# A table reads better with one file a line.
# ruff: noqa: E501

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from chaos.hostile_files.damaged import DAMAGES, Damage
from chaos.hostile_files.trial import Hostile

FLOAT = TensorProto.FLOAT


def honest() -> onnx.ModelProto:
    """Return a linear layer, as the honest checkpoint's."""
    x = helper.make_tensor_value_info("x", FLOAT, [2, 4])
    y = helper.make_tensor_value_info("y", FLOAT, [2, 2])
    weights = [
        helper.make_tensor("w", FLOAT, [2, 4], [0.5] * 8),
        helper.make_tensor("b", FLOAT, [2], [0.0, 0.0]),
    ]
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)
    graph = helper.make_graph([node], "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


Change = Callable[[onnx.ModelProto], None]


def _external(location: str, **entries: object) -> Change:
    def change(model: onnx.ModelProto) -> None:
        weight = model.graph.initializer[0]
        weight.ClearField("float_data")
        weight.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **entries}.items():
            weight.external_data.add(key=key, value=str(value))

    return change


def _dims(*dims: int) -> Change:
    def change(model: onnx.ModelProto) -> None:
        weight = model.graph.initializer[0]
        weight.ClearField("float_data")
        del weight.dims[:]
        weight.dims.extend(dims)

    return change


def _node(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Change:  # noqa: ANN401
    def change(model: onnx.ModelProto) -> None:
        model.graph.node.insert(0, helper.make_node(op, inputs, outputs, **attributes))

    return change


def _constant_of_shape(*dims: int) -> Change:
    """Make a constant of some bytes stand for a large tensor, which a runtime folds."""

    def change(model: onnx.ModelProto) -> None:
        shape = helper.make_tensor("shape", TensorProto.INT64, [len(dims)], dims)
        model.graph.initializer.append(shape)
        made = helper.make_node("ConstantOfShape", ["shape"], ["big"])
        total = helper.make_node("ReduceSum", ["big"], ["s"], keepdims=0)
        del model.graph.node[:]
        plus = helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1)
        end = helper.make_node("Add", ["z", "s"], ["y"])
        model.graph.node.extend([made, total, plus, end])

    return change


def _functions(depth: int, calls: int) -> Change:
    def change(model: onnx.ModelProto) -> None:
        model.opset_import.append(helper.make_opsetid("f", 1))
        for level in range(depth):
            called = ("Identity", "") if level == 0 else (f"f{level - 1}", "f")
            nodes, at = [], "a"
            for number in range(calls):
                out = "r" if number == calls - 1 else f"t{number}"
                nodes.append(helper.make_node(called[0], [at], [out], domain=called[1]))
                at = out
            opsets = [helper.make_opsetid("", 20), helper.make_opsetid("f", 1)]
            made = helper.make_function("f", f"f{level}", ["a"], ["r"], nodes, opsets)
            model.functions.append(made)
        call = helper.make_node(f"f{depth - 1}", ["x"], ["fx"], domain="f")
        model.graph.node.insert(0, call)
        model.graph.node[1].input[0] = "fx"

    return change


def _recursive_function(model: onnx.ModelProto) -> None:
    model.opset_import.append(helper.make_opsetid("f", 1))
    body = [helper.make_node("f", ["a"], ["r"], domain="f")]
    opsets = [helper.make_opsetid("f", 1)]
    model.functions.append(helper.make_function("f", "f", ["a"], ["r"], body, opsets))
    model.graph.node.insert(0, helper.make_node("f", ["x"], ["fx"], domain="f"))
    model.graph.node[1].input[0] = "fx"


def _nested(depth: int, attribute: str = "body") -> Callable[[], bytes]:
    """Return bytes of `If` in `If`, written from the inside: protobuf's own calls would recurse."""

    def made() -> bytes:
        node = helper.make_node("Identity", ["x"], ["q"]).SerializeToString()
        graph = _field(1, node) + _field(2, b"g")
        for _ in range(depth):
            part = _field(1, attribute.encode()) + _field(6, graph) + b"\xa0\x01\x05"
            outer = _field(1, b"x") + _field(2, b"q") + _field(4, b"If") + _field(5, part)
            graph = _field(1, outer) + _field(2, b"g")
        model = honest()
        model.ClearField("graph")
        return bytes(model.SerializeToString()) + _field(7, graph)

    return made


def _nested_types(depth: int) -> Callable[[], bytes]:
    """Return a model whose input is a sequence of sequences of …"""

    def made() -> bytes:
        kind = _field(1, b"\x08\x01")
        for _ in range(depth):
            kind = _field(4, _field(1, kind))
        value = _field(1, b"x") + _field(2, kind)
        model = honest()
        graph = model.graph.SerializeToString() + _field(11, value)
        model.ClearField("graph")
        return bytes(model.SerializeToString()) + _field(7, graph)

    return made


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def _cycle(model: onnx.ModelProto) -> None:
    first = helper.make_node("Identity", ["c2"], ["c1"])
    model.graph.node.insert(0, first)
    model.graph.node.insert(1, helper.make_node("Identity", ["c1"], ["c2"]))


def _loop_without_end(model: onnx.ModelProto) -> None:
    true = helper.make_tensor("true", TensorProto.BOOL, [], [True])
    values = [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("cond", TensorProto.BOOL, []),
        helper.make_tensor_value_info("v", FLOAT, [2, 4]),
    ]
    outs = [
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("v2", FLOAT, [2, 4]),
    ]
    nodes = [
        helper.make_node("Identity", ["cond"], ["c"]),
        helper.make_node("Identity", ["v"], ["v2"]),
    ]
    body = helper.make_graph(nodes, "body", values, outs)
    model.graph.initializer.append(true)
    model.graph.node.insert(0, helper.make_node("Loop", ["", "true", "x"], ["fx"], body=body))
    model.graph.node[1].input[0] = "fx"


def _growing_chain(model: onnx.ModelProto) -> None:
    """Let each of 40 nodes join its input with itself."""
    nodes, at = [], "x"
    for number in range(40):
        nodes.append(helper.make_node("Concat", [at, at], [f"g{number}"], axis=0))
        at = f"g{number}"
    nodes.append(helper.make_node("ReduceSum", [at], ["s"], keepdims=0))
    nodes.append(helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1))
    nodes.append(helper.make_node("Add", ["z", "s"], ["y"]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _set(**fields: int | str) -> Change:
    def change(model: onnx.ModelProto) -> None:
        for name, value in fields.items():
            setattr(model, name, value)

    return change


def _opset(domain: str, version: int) -> Change:
    return lambda model: model.opset_import.append(helper.make_opsetid(domain, version))


def _graph(act: Callable[[Any], object]) -> Change:
    def change(model: onnx.ModelProto) -> None:
        act(model.graph)

    return change


def _weight(act: Callable[[Any], object]) -> Change:
    return _graph(lambda graph: act(graph.initializer[0]))


def _strings(count: int, length: int) -> Change:
    def change(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer.add(name="texts", data_type=TensorProto.STRING)
        tensor.dims.append(count)
        tensor.string_data.extend([b"x" * length] * count)

    return change


def _input_dims(*dims: int) -> Change:
    def act(graph: Any) -> None:  # noqa: ANN401
        shape = graph.input[0].type.tensor_type.shape
        del shape.dim[:]
        for dim in dims:
            shape.dim.add(dim_value=dim)

    return _graph(act)


def _sparse(model: onnx.ModelProto) -> None:
    sparse = model.graph.sparse_initializer.add()
    sparse.values.CopyFrom(helper.make_tensor("s", FLOAT, [1], [1.0]))
    sparse.indices.CopyFrom(helper.make_tensor("i", TensorProto.INT64, [1], [1 << 62]))
    sparse.dims.extend([1 << 40, 1 << 20])


CHANGES: dict[str, Change] = {
    "external data in the parent directory": _external("../secret.bin"),
    "external data, absolute": _external("/etc/passwd"),
    "external data, absolute behind dots": _external("./../../../../../../etc/passwd"),
    "external data with a backslash": _external("..\\secret.bin"),
    "external data with a NUL": _external("data.bin\0/etc/passwd"),
    "external data without a name": _external(""),
    "external data named .": _external("."),
    "external data that is missing": _external("gone.bin"),
    "external data that is a link": _external("link.bin"),
    "external data below a link": _external("linked/passwd"),
    "external data that is a directory": _external("directory"),
    "external data that is a device": _external("/dev/zero", length=1 << 40),
    "external data, a named pipe": _external("pipe"),
    "external data of itself": _external("model.onnx", offset=0, length=32),
    "external data beyond its end": _external("data.bin", offset=1 << 40, length=32),
    "external data at a negative offset": _external("data.bin", offset=-32, length=32),
    "external data of a negative length": _external("data.bin", offset=0, length=-1),
    "external data of 2^62 bytes": _external("data.bin", offset=0, length=1 << 62),
    "external data of a wrong length": _external("data.bin", offset=0, length=7),
    "external data at a text": _external("data.bin", offset="zero", length="all"),
    "external data at 100 digits": _external("data.bin", offset=10**100, length=32),
    "external data of unknown entries": _external("data.bin", offset=0, length=32, basepath="/etc"),
    "external data of a long name": _external("x" * 5000),
    "a weight of 2^40 floats without data": _dims(1 << 20, 1 << 20),
    "a weight of 2^62 floats without data": _dims(1 << 31, 1 << 31),
    "a weight of 2^64 elements": _dims(1 << 32, 1 << 32),
    "a weight of negative dims": _dims(-2, -4),
    "a weight of -1 dims": _dims(-1),
    "a weight of a million dims": _dims(*[1] * 1_000_000),
    "a weight of an unknown type": _weight(lambda w: setattr(w, "data_type", 999)),
    "a weight of type 0": _weight(lambda w: setattr(w, "data_type", 0)),
    "a weight of another type": _weight(lambda w: setattr(w, "data_type", TensorProto.INT8)),
    "a weight with two kinds of data": _weight(lambda w: setattr(w, "raw_data", b"x" * 7)),
    "a weight in a segment": _weight(lambda w: setattr(w.segment, "begin", 1 << 60)),
    "a weight without a name": _weight(lambda w: setattr(w, "name", "")),
    "a name of 8 MiB": _weight(lambda w: setattr(w, "name", "w" * (8 << 20))),
    "the same weight twice": _graph(lambda g: g.initializer.append(g.initializer[0])),
    "sparse indices of 2^62": _sparse,
    "texts of 64 MiB": _strings(64, 1 << 20),
    "4 million empty texts": _strings(4_000_000, 0),
    "an input of 2^62": _input_dims(1 << 62, 1 << 62),
    "an input of negative dims": _input_dims(-3, -4),
    "an input of 100,000 dims": _input_dims(*[1] * 100_000),
    "a constant of 2^40 floats": _constant_of_shape(1 << 20, 1 << 20),
    "a constant of 2^62 floats": _constant_of_shape(1 << 31, 1 << 31),
    "a constant of 8 GiB": _constant_of_shape(1 << 31),
    "a constant of negative dims": _constant_of_shape(-1, -1),
    "a chain that doubles 40 times": _growing_chain,
    "functions of 2^30 nodes": _functions(30, 2),
    "functions of 10^12 nodes": _functions(12, 10),
    "functions 900 deep": _functions(900, 1),
    "functions 20,000 deep": _functions(20_000, 1),
    "a function that calls itself": _recursive_function,
    "a graph with a cycle": _cycle,
    "a loop without end": _loop_without_end,
    "a node of an unknown domain": _node("Evil", ["x"], ["e"], domain="com.evil"),
    "a node of an unknown operator": _node("Evil", ["x"], ["e"]),
    "a node without an operator": _node("", ["x"], ["e"]),
    "a node of 1 million inputs": _node("Concat", ["x"] * 1_000_000, ["e"], axis=0),
    "a node that reads what is not there": _node("Identity", ["gone"], ["e"]),
    "a node that writes the input": _node("Identity", ["w"], ["x"]),
    "a node with a wrong attribute": _node("Gemm", ["x", "w"], ["e"], transB="yes"),
    "com.microsoft operators": _node("FusedGemm", ["x", "w", "b"], ["e"], domain="com.microsoft"),
    "an ATen node": _node("ATen", ["x"], ["e"], domain="org.pytorch.aten", operator="system"),
    "a PythonOp": _node("PythonOp", ["x"], ["e"], domain="com.microsoft", func_name="os.system"),
    "an EPContext of a library": _node("EPContext", ["x"], ["e"], domain="com.microsoft", ep_cache_context="../evil.so", embed_mode=0),
    "IR version 0": _set(ir_version=0),
    "IR version 2^62": _set(ir_version=1 << 62),
    "IR version -1": _set(ir_version=-1),
    "opset 10^9": _opset("", 1_000_000_000),
    "opset -1": _opset("", -1),
    "two opsets": _opset("", 7),
    "an unknown domain": _opset("com.evil", 1),
    "no opset": lambda model: model.ClearField("opset_import"),
    "no graph": lambda model: model.ClearField("graph"),
    "an empty graph": lambda model: model.graph.Clear(),
    "no outputs": _graph(lambda g: g.ClearField("output")),
    "no inputs": _graph(lambda g: g.ClearField("input")),
    "the same output twice": _graph(lambda g: g.output.append(g.output[0])),
    "an output that nobody makes": _graph(lambda g: setattr(g.output[0], "name", "gone")),
    "an output without a type": _graph(lambda g: g.output[0].ClearField("type")),
    "metadata of 8 MiB": lambda model: model.metadata_props.add(key="k", value="v" * (8 << 20)) and None,
    "names with escape sequences": _graph(lambda g: setattr(g, "name", "\x1b]0;evil\x07\x1b[2J")),
    "training information": lambda model: model.training_info.add().initialization.CopyFrom(model.graph),
    "a node on a device": lambda model: setattr(model.graph.node[0], "name", "/../../evil"),
    "values of other shapes": _graph(lambda g: g.value_info.append(helper.make_tensor_value_info("w", FLOAT, [9, 9]))),
}  # fmt: skip
HARMLESS = frozenset((
    "two opsets", "an unknown domain", "metadata of 8 MiB", "names with escape sequences",
    "training information", "a node on a device", "values of other shapes", "texts of 64 MiB",
    "4 million empty texts", "a weight in a segment", "sparse indices of 2^62",
    "external data of unknown entries", "external data of itself", "a loop without end", "a chain that doubles 40 times",
    "com.microsoft operators", "an ATen node", "a PythonOp", "an EPContext of a library",
    "a node of an unknown domain", "functions 900 deep", "an input of 2^62",
    "an input of 100,000 dims", "a node of 1 million inputs",
))  # fmt: skip
"""What a reader of the file's structure has no reason to refuse."""
RAW: dict[str, Callable[[], bytes]] = {
    "If in If, 90 deep": _nested(90),
    "If in If, 1,000 deep": _nested(1000),
    "If in If, 20,000 deep": _nested(20_000),
    "sequences of sequences, 40 deep": _nested_types(40),
    "sequences of sequences, 1,000 deep": _nested_types(1000),
    "sequences of sequences, 50,000 deep": _nested_types(50_000),
    "groups in groups": lambda: b"\x0b" * 500_000,
    "a field of 2^63 bytes": lambda: b"\x3a" + b"\xff" * 9 + b"\x01",
    "a varint without end": lambda: b"\x08" + b"\xff" * 1000,
    "wrong wire types": lambda: b"\x3d\x00\x00\x00\x00\x0d\x01\x02\x03\x04",
    "unknown fields": lambda: honest().SerializeToString() + _field(5000, b"x" * 100),
    "two graphs": lambda: honest().SerializeToString() * 2,
    "a million empty nodes": lambda: honest().SerializeToString() + _field(7, _field(1, b"") * 1_000_000),
    "a million empty functions": lambda: honest().SerializeToString() + _field(25, b"") * 1_000_000,
    "10 million zero bytes": lambda: bytes(10_000_000),
    "nothing": lambda: b"",
    "text": lambda: b"ir_version: 10\ngraph { name: 'g' }",
    "JSON": lambda: b'{"irVersion": "10", "graph": {}}',
    "ORT format": lambda: b"\x20\x00\x00\x00ORTM" + bytes(100),
    "a pickle": lambda: b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR.",
}  # fmt: skip
TAKEN = frozenset(("unknown fields", "If in If, 90 deep", "sequences of sequences, 40 deep"))


def _surround(directory: Path) -> None:
    """Write what external data may name."""
    (directory / "data.bin").write_bytes(bytes(64))
    (directory / "link.bin").symlink_to("/etc/passwd")
    (directory / "linked").symlink_to("/etc")
    (directory / "directory").mkdir()
    os.mkfifo(directory / "pipe")


def hostile(seed: int = 0, damages: int = 8) -> Iterator[Hostile]:
    """Yield the files, and honest ones that are damaged."""
    for name, change in CHANGES.items():

        def changed(directory: Path, _canary: Path, change: Change = change) -> Path:
            model = honest()
            change(model)
            _surround(directory)
            path = directory / "model.onnx"
            path.write_bytes(model.SerializeToString())
            return path

        outside = name.startswith("external data") and name not in HARMLESS
        yield Hostile("onnx", name, changed, name in HARMLESS, not outside)
    for name, content in RAW.items():

        def written(directory: Path, _canary: Path, content: Callable[[], bytes] = content) -> Path:
            path = directory / "model.onnx"
            path.write_bytes(content())
            return path

        yield Hostile("onnx", name, written, name in TAKEN, name in TAKEN)
    for number in range(damages):
        for kind, damage in DAMAGES.items():
            draw = f"{seed} {number} {kind}"

            def damaged(
                directory: Path,
                _canary: Path,
                damage: Damage = damage,
                draw: str = draw,
            ) -> Path:
                path = directory / "model.onnx"
                path.write_bytes(damage(honest().SerializeToString(), random.Random(draw)))
                return path

            yield Hostile("onnx", f"{kind}, {number}", damaged, True, True)
