"""Cross-field rules of ModelExports, each as CEL for the API server and as Python.

The API server and `modelexport run` reject the same manifests with the same message;
`tests/cluster` compares both.
"""

from __future__ import annotations

import re

from modelexport_api import rule_explanations as explanations
from modelexport_api.rule import Rule, find_violations
from modelexport_api.rules_batch import BATCH_RULES, PLACEHOLDER
from modelexport_api.sizes import dims_of_shapes
from modelexport_api.spec import (
    DType,
    Exporter,
    Format,
    InputKind,
    Layout,
    Mode,
    ModelExportSpec,
    Precision,
    Weights,
)

NEEDS_FACTORY = (
    Format.STATE_DICT,
    Format.SAFETENSORS,
    Format.LIGHTNING,
    Format.DISTRIBUTED_CHECKPOINT,
)
SCALARS = (InputKind.INT, InputKind.FLOAT, InputKind.BOOL, InputKind.CONSTANT)
MASKS = (InputKind.ATTENTION_MASK, InputKind.PADDING_MASK)
NOT_TENSORS = (InputKind.SEQUENCE, InputKind.OPTIONAL)
TRITON_URI = rf"^((s3|pvc)://[^/]+|file://)/(.*/)?([A-Za-z0-9_]|{PLACEHOLDER})([A-Za-z0-9_.-]|{PLACEHOLDER})*/?$"
"""A directory whose name is valid as a model name in Triton's URLs."""
_DIMS_OF = r"string(d).findAll('[^\\d *+-]\\w*')"
"""The dims of an entry of `shape`, which may be an expression such as `2 * n - 1` or `p + t`.

The API server estimates what a rule costs by the length of its regular expressions.
"""
NOT_IN_ONNX = (DType.COMPLEX64, DType.COMPLEX128, DType.STRING)


def _dim_names(spec: ModelExportSpec) -> set[str]:
    return set(dims_of_shapes(entry.shape for entry in spec.inputs))


def _unique(names: list[str]) -> bool:
    return len(names) == len(set(names))


RULES: tuple[Rule[ModelExportSpec], ...] = (
    Rule(
        path=("source",),
        cel="!has(self.uri) || !self.uri.endsWith('/') || "
        "(!has(self.sha256) && !has(self.versionId))",
        message="sha256 and versionId require a single object; uri is a directory (it ends in /)",
        holds=lambda spec: (
            not (spec.source.uri or "").endswith("/")
            or (spec.source.sha256 is None and spec.source.version_id is None)
        ),
    ),
    Rule(
        path=("source",),
        cel="!has(self.versionId) || !has(self.uri) || self.uri.startsWith('s3://')",
        message="versionId requires an s3:// uri",
        holds=lambda spec: (
            spec.source.version_id is None or (spec.source.uri or "s3://").startswith("s3://")
        ),
    ),
    Rule(
        path=(),
        cel="(has(self.model) && has(self.model.factory)) || !(self.source.format in "
        "['StateDict', 'Safetensors', 'Lightning', 'DistributedCheckpoint'])",
        message="model.factory is required: a checkpoint of this format contains weights only",
        holds=lambda spec: (
            spec.source.format not in NEEDS_FACTORY
            or (spec.model is not None and spec.model.factory is not None)
        ),
    ),
    Rule(
        path=("source",),
        cel="self.format != 'Module' || (has(self.allowPickle) && self.allowPickle)",
        message="format Module is a pickle, which runs code when it is loaded: set allowPickle if "
        "you trust it like your own code",
        holds=lambda spec: spec.source.format is not Format.MODULE or spec.source.allow_pickle,
    ),
    Rule(
        path=("inputs",),
        cel="self.all(i, has(i.length) == (i.kind == 'Sequence'))",
        message="length is required for kind Sequence, and not allowed for other kinds",
        holds=lambda spec: all(
            (entry.length is not None) == (entry.kind is InputKind.SEQUENCE)
            for entry in spec.inputs
        ),
        explain=explanations.of_inputs(
            "length",
            lambda entry: (entry.length is not None) != (entry.kind is InputKind.SEQUENCE),
            lambda entry: (
                "write length: 2"
                if entry.length is None
                else "remove length, or write kind: Sequence"
            ),
        ),
    ),
    Rule(
        path=("inputs",),
        cel="self.all(i, !(i.dtype in ['complex64', 'complex128', 'string']))",
        message="ONNX does not support complex numbers, and torch does not support strings: pass "
        "the real and imaginary part as two inputs (torch.view_as_complex in forward), strings "
        "as kind Constant or as token ids",
        holds=lambda spec: all(entry.dtype not in NOT_IN_ONNX for entry in spec.inputs),
        explain=explanations.wrong_dtypes,
    ),
    Rule(
        path=("inputs",),
        cel="self.all(i, !(i.kind in ['Int', 'Float', 'Bool', 'Constant']) || "
        "!has(i.shape) || size(i.shape) == 0)",
        message="kinds Int, Float, Bool and Constant have no shape",
        holds=lambda spec: all(
            entry.kind not in SCALARS or not entry.shape for entry in spec.inputs
        ),
        explain=explanations.of_inputs(
            "shape",
            lambda entry: entry.kind in SCALARS and bool(entry.shape),
            lambda _: "remove its shape, or write kind: Tensor",
        ),
    ),
    Rule(
        path=("inputs",),
        cel="self.all(i, !(i.kind in ['AttentionMask', 'PaddingMask']) || !has(i.range))",
        message="kinds AttentionMask and PaddingMask have no range: their elements are 0 and 1",
        holds=lambda spec: all(
            entry.kind not in MASKS or entry.range is None for entry in spec.inputs
        ),
        explain=explanations.of_inputs(
            "range",
            lambda entry: entry.kind in MASKS and entry.range is not None,
            lambda _: "remove its range",
        ),
    ),
    Rule(
        path=(),
        cel="self.inputs.all(i, i.shape.all(d, "
        f"type(d) == int || (has(self.dims) && {_DIMS_OF}.all(n, n in self.dims))))",
        message="every name in inputs[].shape must be defined in dims, with its max (and min)",
        holds=lambda spec: _dim_names(spec) <= set(spec.dims),
        explain=explanations.undeclared_dims,
    ),
    Rule(
        path=(),
        # [x].all(used, …) gives x a name: it is computed once, not for each dim.
        cel="!has(self.dims) || [self.inputs.map(i, i.shape.map(d, "
        f"{_DIMS_OF}))].all(used, self.dims.all(n, used.exists(l, l.exists(m, n in m))))",
        message="every dim in dims must be used in the shape of an input",
        holds=lambda spec: set(spec.dims) <= _dim_names(spec),
        explain=explanations.unused_dims,
    ),
    Rule(
        path=("inputs",),
        cel="self.all(i, self.exists_one(o, o.name == i.name))",
        message="the names of inputs must be unique",
        holds=lambda spec: _unique([entry.name for entry in spec.inputs]),
        explain=explanations.repeated("inputs", lambda spec: [entry.name for entry in spec.inputs]),
    ),
    Rule(
        path=("inputs",),
        cel="self.all(i, !has(i.range) || i.range[0] <= i.range[1])",
        message="range must be [smallest, largest]",
        holds=lambda spec: all(
            entry.range is None or entry.range[0] <= entry.range[1] for entry in spec.inputs
        ),
        explain=explanations.swapped_ranges,
    ),
    Rule(
        path=("outputs",),
        cel="self.all(o, self.exists_one(p, p == o))",
        message="the names of outputs must be unique",
        holds=lambda spec: _unique(spec.outputs),
        explain=explanations.repeated("outputs", lambda spec: spec.outputs),
    ),
    Rule(
        path=(),
        cel="!has(self.outputs) || self.inputs.all(i, !(i.name in self.outputs))",
        message="the names of outputs must differ from those of inputs",
        holds=lambda spec: not set(spec.outputs) & {entry.name for entry in spec.inputs},
        explain=explanations.outputs_named_as_inputs,
    ),
    Rule(
        path=(),
        cel="!has(self.outputShapes) || "
        "(has(self.outputs) && self.outputShapes.all(o, o in self.outputs))",
        message="every name in outputShapes must be listed in outputs",
        holds=lambda spec: set(spec.output_shapes) <= set(spec.outputs),
        explain=explanations.unlisted_outputs,
    ),
    Rule(
        path=("dims",),
        cel="self.all(n, n.matches('^[A-Za-z_][A-Za-z0-9_]*$') && n.size() <= 63)",
        message="the name of a dim must start with a letter or _, followed by letters, digits and "
        "_ (at most 63 characters)",
        holds=lambda _spec: True,  # checked by the type DimName
    ),
    Rule(
        path=("dims",),
        cel="self.all(n, self[n].min <= self[n].max)",
        message="a dim's min must not be larger than its max",
        holds=lambda spec: all(dim.min <= dim.max for dim in spec.dims.values()),
        explain=explanations.swapped_dims,
    ),
    Rule(
        path=("export",),
        cel="!has(self.customOpsets) || self.customOpsets.all(n, n.matches('^[A-Za-z0-9_.-]+$'))",
        message="keys of customOpsets must be operator domains (letters, digits, _, . and -)",
        holds=lambda _spec: True,  # checked by the type of the keys
    ),
    Rule(
        path=("export",),
        cel="self.exporter != 'Dynamo' || self.opset >= 18",
        message="exporter Dynamo requires opset 18 or newer; use exporter TorchScript for older",
        holds=lambda spec: (
            spec.export.exporter is not Exporter.DYNAMO or spec.export.opset >= 18  # noqa: PLR2004
        ),
    ),
    Rule(
        path=("export",),
        cel="self.exporter != 'TorchScript' || self.opset <= 20",
        message="exporter TorchScript requires opset 7 to 20; use exporter Dynamo for newer",
        holds=lambda spec: (
            spec.export.exporter is not Exporter.TORCH_SCRIPT or spec.export.opset <= 20  # noqa: PLR2004
        ),
    ),
    Rule(
        path=("export",),
        cel="has(self.calibrationInputs) == (self.precision == 'StaticInt8')",
        message="calibrationInputs is required for precision StaticInt8 and not allowed otherwise",
        holds=lambda spec: (
            (spec.export.calibration_inputs is not None)
            == (spec.export.precision is Precision.STATIC_INT8)
        ),
    ),
    Rule(
        path=("export",),
        cel="self.precision == 'Native' || self.weights == 'Embedded'",
        message="a precision other than Native changes the weights: weights must be Embedded",
        holds=lambda spec: (
            spec.export.precision is Precision.NATIVE or spec.export.weights is Weights.EMBEDDED
        ),
    ),
    Rule(
        path=(),
        cel="!has(self.artifact) || self.mode == 'Verify'",
        message="artifact is allowed in mode Verify only",
        holds=lambda spec: spec.artifact is None or spec.mode is Mode.VERIFY,
    ),
    Rule(
        path=("destination",),
        cel=f"self.layout != 'Triton' || self.uri.matches(r'{TRITON_URI}')",
        message="layout Triton: the last part of uri is the model's name; it must consist of "
        "letters, digits, _, - and . (s3://bucket/repository/my_model/)",
        holds=lambda spec: (
            spec.destination.layout is not Layout.TRITON
            or re.search(TRITON_URI, spec.destination.uri) is not None
        ),
    ),
    Rule(
        path=(),
        cel="self.destination.layout != 'Triton' || self.export.weights != 'Omitted'",
        message="layout Triton: export.weights must not be Omitted; Triton cannot supply weights",
        holds=lambda spec: (
            spec.destination.layout is not Layout.TRITON
            or spec.export.weights is not Weights.OMITTED
        ),
    ),
    Rule(
        path=(),
        cel="self.destination.layout != 'Triton' || "
        "self.inputs.all(i, !(i.kind in ['Sequence', 'Optional']))",
        message="layout Triton: inputs of kind Sequence or Optional are not supported",
        holds=lambda spec: (
            spec.destination.layout is not Layout.TRITON
            or all(entry.kind not in NOT_TENSORS for entry in spec.inputs)
        ),
    ),
    *BATCH_RULES,
)


def violations(spec: ModelExportSpec) -> list[str]:
    """Return a line `field: message` for each rule that the spec violates."""
    return find_violations(RULES, spec)
