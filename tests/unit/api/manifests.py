"""Manifests that violate one rule each: API server and `modelexport run` must both reject them."""

from __future__ import annotations

import copy
from typing import Any

VALID: dict[str, Any] = {
    "apiVersion": "modelexport.dev/v1alpha1",
    "kind": "ModelExport",
    "metadata": {"name": "digits"},
    "spec": {
        "source": {"uri": "s3://models/digits/checkpoint.pt", "format": "StateDict"},
        "model": {"factory": "model:build", "code": {"uri": "s3://models/digits/code.zip"}},
        "inputs": [{"name": "image", "shape": ["batch", 1, 8, 8]}],
        "dims": {"batch": {"min": 1, "max": 64}},
        "outputs": ["logits"],
        "destination": {"uri": "s3://models/digits/onnx/"},
    },
}


def changed(**spec: Any) -> dict[str, Any]:  # noqa: ANN401 - any part of a manifest
    """Return VALID with parts of its spec replaced; None removes a part."""
    manifest = copy.deepcopy(VALID)
    for name, value in spec.items():
        if value is None:
            del manifest["spec"][name]
        else:
            manifest["spec"][name] = value
    return manifest


X = {"name": "image", "shape": ["batch", 1, 8, 8]}
EACH = {"uri": "s3://models/onnx/{stem}/"}
ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("a glob", changed(source={"uri": "s3://m/[ab]/fold-*.pt"}, destination=EACH)),
    (
        "volumes",
        changed(
            source={"uri": "pvc://training/run-7/model.pt"},
            model={"factory": "net:build", "code": {"uri": "pvc://training/code/"}},
            destination={"uri": "pvc://models.team/digits/"},
        ),
    ),
    (
        "a glob in a volume",
        changed(
            source={"uri": "pvc://training/run-*/model.pt"},
            destination={"uri": "pvc://training/repository/net-{parent}/", "layout": "Triton"},
        ),
    ),
    (
        "a sum of dims",
        changed(
            inputs=[
                {"name": "ids", "shape": ["t"]},
                {"name": "mask", "shape": ["2*past +t+ b - 1"]},
            ],
            dims={"t": {"max": 8}, "past": {"max": 8}, "b": {"max": 8}},
        ),
    ),
    ("weights in the checkpoint", changed(export={"weights": "InCheckpoint"})),
    ("a list", changed(source={"uris": ["s3://m/a?.pt", "s3://m/b.pt"]}, destination=EACH)),
    (
        "pods and failures",
        changed(source={"uri": "s3://m/*/"}, destination=EACH, parallelism=8, maxFailed=3),
    ),
    (
        "models for Triton",
        changed(
            source={"uri": "s3://m/*.pt"},
            destination={"uri": "s3://m/repository/digits-{stem}/", "layout": "Triton"},
        ),
    ),
    ("one checkpoint, named in its destination", changed(destination=EACH)),
    (
        "sizes that follow from a dim",
        changed(inputs=[{"name": "a", "shape": ["batch", "batch - 1", "2 * batch + 1", 3]}]),
    ),
    ("a dim that occurs in an expression only", changed(inputs=[{**X, "shape": ["batch - 1"]}])),
    (
        "shapes of outputs",
        changed(outputs=["boxes"], outputShapes={"boxes": ["found", "batch", "2 * batch", 4]}),
    ),
    ("a mask", changed(inputs=[X, {"name": "m", "kind": "AttentionMask", "shape": ["batch", 9]}])),
]
# (test id, manifest, expected field, expected part of the message)
INVALID: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "sha256 of a directory",
        changed(source={"uri": "s3://m/dir/", "sha256": "0" * 64}),
        "spec.source",
        "sha256 and versionId require a single object",
    ),
    (
        "version of a file",
        changed(source={"uri": "file:///m/model.pt", "versionId": "3"}),
        "spec.source",
        "versionId requires an s3:// uri",
    ),
    ("weights without a model", changed(model=None), "spec", "model.factory is required"),
    (
        "undefined dim",
        changed(inputs=[{"name": "image", "shape": ["n", "batch"]}]),
        "spec",
        "must be defined in dims",
    ),
    (
        "expression of an undefined dim",
        changed(inputs=[{"name": "image", "shape": ["batch", "n - 1"]}]),
        "spec",
        "must be defined in dims",
    ),
    (
        "sum with an undefined dim",
        changed(inputs=[{"name": "image", "shape": ["batch", "batch + n"]}]),
        "spec",
        "must be defined in dims",
    ),
    (
        "dim that is a part of a used name",
        changed(
            inputs=[{"name": "image", "shape": ["batch + n1"]}],
            dims={"batch": {"max": 8}, "n1": {"max": 8}, "n": {"max": 8}},
        ),
        "spec",
        "must be used in the shape of an input",
    ),
    (
        "unused dim",
        changed(dims={"batch": {"max": 64}, "seq": {"max": 9}}),
        "spec",
        "must be used in the shape of an input",
    ),
    (
        "two inputs of the same name",
        changed(inputs=[X, X]),
        "spec.inputs",
        "names of inputs must be unique",
    ),
    (
        "range with its limits swapped",
        changed(inputs=[{**X, "range": [9, 1]}]),
        "spec.inputs",
        "range must be [smallest, largest]",
    ),
    (
        "mask with a range",
        changed(inputs=[{**X, "kind": "PaddingMask", "range": [0, 1]}]),
        "spec.inputs",
        "AttentionMask and PaddingMask have no range",
    ),
    (
        "two outputs of the same name",
        changed(outputs=["y", "y"]),
        "spec.outputs",
        "names of outputs must be unique",
    ),
    (
        "output named as an input",
        changed(outputs=["image"]),
        "spec",
        "names of outputs must differ from those of inputs",
    ),
    (
        "dim with its limits swapped",
        changed(dims={"batch": {"min": 9, "max": 3}}),
        "spec.dims",
        "min must not be larger",
    ),
    (
        "opset too old for Dynamo",
        changed(export={"exporter": "Dynamo", "opset": 15}),
        "spec.export",
        "opset 18 or newer",
    ),
    (
        "opset too new for TorchScript",
        changed(export={"exporter": "TorchScript", "opset": 21}),
        "spec.export",
        "opset 7 to 20",
    ),
    (
        "no such format",
        changed(source={"uri": "s3://m/k", "format": "Keras"}),
        "spec.source.format",
        "",
    ),
    ("no claim", changed(source={"uri": "pvc:///a.pt"}), "spec.source.uri", ""),
    ("no path in a claim", changed(source={"uri": "pvc://training"}), "spec.source.uri", ""),
    ("a claim in capitals", changed(source={"uri": "pvc://A/a.pt"}), "spec.source.uri", ""),
    ("out of a claim", changed(source={"uri": "pvc://a/../b.pt"}), "spec.source.uri", ""),
    ("a claim and .", changed(destination={"uri": "pvc://a/./b/"}), "spec.destination.uri", ""),
    ("up at the end", changed(destination={"uri": "pvc://a/b/.."}), "spec.destination.uri", ""),
    (
        "a version of a file in a volume",
        changed(source={"uri": "pvc://a/b.pt", "versionId": "3"}),
        "spec.source",
        "versionId requires an s3:// uri",
    ),
    ("http source", changed(source={"uri": "https://host/k"}), "spec.source.uri", ""),
    ("no inputs", changed(inputs=[]), "spec.inputs", ""),
    (
        "the shape of an output without a name",
        changed(outputShapes={"boxes": ["batch"]}),
        "spec",
        "must be listed in outputs",
    ),
    (
        "a size of an output that is no name",
        changed(outputShapes={"logits": ["batch size"]}),
        "spec.outputShapes",
        "",
    ),
    ("no destination", changed(destination=None), "spec.destination", ""),
    (
        "factory without a colon",
        changed(model={"factory": "model.build"}),
        "spec.model.factory",
        "",
    ),
    ("unknown field", changed(paralelism=3), "spec.paralelism", ""),
    (
        "a name that Triton does not accept",
        changed(destination={"uri": "s3://m/models/my model/", "layout": "Triton"}),
        "spec.destination",
        "the last part of uri is the model's name",
    ),
    (
        "a bucket as a Triton model",
        changed(destination={"uri": "s3://models/", "layout": "Triton"}),
        "spec.destination",
        "the last part of uri is the model's name",
    ),
    (
        "a Triton model without weights",
        changed(
            destination={"uri": "s3://m/models/digits/", "layout": "Triton"},
            export={"weights": "Omitted"},
        ),
        "spec",
        "Triton cannot supply weights",
    ),
    (
        "an optional input for Triton",
        changed(
            destination={"uri": "s3://m/models/digits", "layout": "Triton"},
            inputs=[{"name": "image", "kind": "Optional", "shape": ["batch", 1, 8, 8]}],
        ),
        "spec",
        "inputs of kind Sequence or Optional are not supported",
    ),
    (
        "an artifact for an export",
        changed(artifact={"uri": "s3://m/other.onnx"}),
        "spec",
        "artifact is allowed in mode Verify only",
    ),
    (
        "a checkpoint and a list of them",
        changed(source={"uri": "s3://m/a.pt", "uris": ["s3://m/b.pt"]}),
        "spec.source",
        "set exactly one of uri",
    ),
    ("no checkpoint", changed(source={}), "spec.source", "set exactly one of uri"),
    (
        "a checkpoint that is listed twice",
        changed(source={"uris": ["s3://m/a.pt", "s3://m/a.pt"]}, destination=EACH),
        "spec.source",
        "",
    ),
    (
        "a digest for many checkpoints",
        changed(source={"uri": "s3://m/*.pt", "sha256": "0" * 64}, destination=EACH),
        "spec.source",
        "this is a batch",
    ),
    (
        "one destination for many checkpoints",
        changed(source={"uri": "s3://m/fold-?.pt"}),
        "spec",
        "a batch requires one destination per checkpoint",
    ),
    (
        "an unknown placeholder",
        changed(destination={"uri": "s3://m/{fold}/"}),
        "spec.destination",
        "the only placeholders allowed in uri",
    ),
    (
        "weights in the checkpoint of many",
        changed(
            source={"uri": "s3://m/*.pt"}, destination=EACH, export={"weights": "InCheckpoint"}
        ),
        "spec",
        "export.weights InCheckpoint requires a single checkpoint",
    ),
    (
        "weights in the checkpoint in another precision",
        changed(export={"weights": "InCheckpoint", "precision": "Float16"}),
        "spec.export",
        "weights must be Embedded",
    ),
    ("pods for one checkpoint", changed(parallelism=2), "spec", "require a batch"),
    ("failures of one checkpoint", changed(maxFailed=1), "spec", "require a batch"),
    (
        "one artifact for many checkpoints",
        changed(
            source={"uri": "s3://m/*.pt"},
            destination=EACH,
            mode="Verify",
            artifact={"uri": "s3://m/other.onnx"},
        ),
        "spec",
        "artifact is a single file",
    ),
]
