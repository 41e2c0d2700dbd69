"""The table, continued: wrong fields of the spec."""

from __future__ import annotations

from bad_input.cases import BATCH, Case, X, manifest, model, source

OF_FIELDS = [
    Case(
        "a misspelled field", manifest({"destination": None, "destnation": {}}),
        "spec.destnation: ", "unknown field", "", "did you mean `destination`?",
    ),
    Case(
        "a field in snake case", manifest({"max_failed": 1}), "spec.max_failed: ", "unknown field",
        "", "did you mean `maxFailed`?",
    ),
    Case(
        "a field of another level", manifest({"opset": 18}), "spec.opset: ", "unknown field", "",
        "write it as spec.export.opset",
    ),
    Case(
        "a misspelled field of an input", manifest({"inputs": [{**X, "dtpye": "int64"}]}),
        "spec.inputs[0].dtpye: ", "unknown field", "", "did you mean `dtype`?",
    ),
    Case(
        "no destination", manifest({"destination": None}), "spec.destination: ", "missing",
        "a mapping with uri", "write destination: {uri: 'file://./onnx/'}",
    ),
    Case(
        "a relative path", manifest(source(uri="model.pt")), "spec.source.uri: ",
        '"model.pt" (a plain path)', "s3://bucket/key, file:///absolute/path or file://./relative",
        "write uri: file://./model.pt",
    ),
    Case(
        "an absolute path", manifest(source(uri="/data/my model.pt")), "spec.source.uri: ",
        "a plain path", "file:///absolute/path", "write uri: file:///data/my%20model.pt",
    ),
    Case(
        "two slashes", manifest(source(uri="file://model.pt")), "spec.source.uri: ",
        '"file://model.pt"', "file://./relative", "write uri: file://./model.pt",
    ),
    Case(
        "a web address", manifest(source(uri="https://host/m.pt")), "spec.source.uri: ",
        '"https://host/m.pt"', "s3://bucket/key", "download it first",
    ),
    Case(
        "text for a mapping", manifest({"destination": "out"}), "spec.destination: ",
        '"out" (text)', "a mapping with uri", "write destination: {uri: 'file://./out'}",
    ),
    Case(
        "a mapping for a list", manifest({"inputs": {"x": {"shape": ["batch", 8]}}}),
        "spec.inputs: ", "(a mapping)", "a list of mappings",
        "write inputs: [{name: x, shape: [batch, 8]}]",
    ),
    Case(
        "a list for a mapping", manifest({"dims": [{"name": "batch", "max": 8}]}), "spec.dims: ",
        "(a list)", "a mapping of names to values", "write dims: {batch: {min: 1, max: 8}}",
    ),
    Case(
        "a number as text", manifest({"dims": {"batch": {"max": "8"}}}), "spec.dims.batch.max: ",
        '"8" (text)', "a whole number from 1", "write max: 8",
    ),
    Case(
        "a boolean for a number", manifest({"backoffLimit": True}), "spec.backoffLimit: ",
        "true (a boolean)", "a whole number from 0 to 100", "",
    ),
    Case(
        "text for a boolean", manifest({"suspend": "yes"}), "spec.suspend: ", '"yes" (text)',
        "true or false", "write suspend: true",
    ),
    Case(
        "a boolean for text", manifest({"outputs": [True]}), "spec.outputs[0]: ",
        "true (a boolean)", "a name", "in quotes",
    ),
    Case(
        "a number for a dim", manifest({"dims": {"batch": 8}}), "spec.dims.batch: ", "8 (a number)",
        "a mapping with max", "write batch: {min: 1, max: 8}",
    ),
    Case(
        "a number out of range", manifest({"export": {"opset": 99}}), "spec.export.opset: ",
        "found 99", "a whole number from 7 to 25", "write opset: 25",
    ),
    Case(
        "an unknown dtype", manifest({"inputs": [{**X, "dtype": "torch.long"}]}),
        "spec.inputs[0].dtype: ", '"torch.long"', "one of float32, float64", "write dtype: int64",
    ),
    Case(
        "an unknown format", manifest(source(format="Statedict")), "spec.source.format: ",
        '"Statedict"', "one of Auto, StateDict", "write format: StateDict",
    ),
    Case(
        "a size of -1", manifest({"inputs": [{"name": "x", "shape": [-1, 8]}]}),
        "spec.inputs[0].shape[0]: ", "found -1", "a name from dims",
        "in dims: {batch: {min: 1, max: 64}}",
    ),
    Case(
        "a dim that is not declared",
        manifest({"inputs": [{"name": "x", "shape": ["batch", "seq"]}]}), "spec.inputs[0].shape: ",
        "dim `seq` of inputs[0].shape is not declared in spec.dims", "must be defined in dims",
        "add `dims: {seq: {min: 1, max: 512}}`",
    ),
    Case(
        "a dim that is not used", manifest({"dims": {**BATCH, "seq": {"max": 9}}}),
        "spec.dims.seq: ", "dim `seq` is in no shape", "must be used in the shape of an input",
        "remove it",
    ),
    Case(
        "a dim without its largest size", manifest({"dims": {"batch": {"min": 1}}}),
        "spec.dims.batch.max: ", "missing", "a whole number from 1", "write max: 64",
    ),
    Case(
        "swapped sizes", manifest({"dims": {"batch": {"min": 8, "max": 1}}}), "spec.dims.batch: ",
        "found min 8 and max 1", "must not be larger", "write batch: {min: 1, max: 8}",
    ),
    Case(
        "one limit", manifest({"inputs": [{**X, "range": [9]}]}), "spec.inputs[0].range: ",
        "[9] (1 entry)", "a list of 2 numbers", "write range: [smallest, largest]",
    ),
    Case(
        "a mask with a range",
        manifest({"inputs": [X, {**X, "name": "mask", "kind": "PaddingMask", "range": [0, 0]}]}),
        "spec.inputs[1].range: ", "input `mask` is of kind PaddingMask", "have no range",
        "remove its range",
    ),
    Case(
        "a factory without its callable", manifest(model(factory="model.py")),
        "spec.model.factory: ", '"model.py"', "package.module:callable", "model:build",
    ),
    Case(
        "a factory with a dot", manifest(model(factory="model.build()")), "spec.model.factory: ",
        '"model.build()"', "package.module:callable", "write factory: model:build",
    ),
]  # fmt: skip
