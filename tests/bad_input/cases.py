"""The table: wrong manifests and command lines, and what the first message must say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelexport_api.yaml_text import dump

X: dict[str, Any] = {"name": "x", "shape": ["batch", 8]}
BATCH: dict[str, Any] = {"batch": {"min": 1, "max": 8}}
SPEC: dict[str, Any] = {
    "source": {"uri": "file://./model.pt"},
    "model": {"factory": "model:build", "code": {"uri": "file://./code/"}},
    "inputs": [X],
    "dims": BATCH,
    "destination": {"uri": "file://./out/"},
}
MANIFEST, SOURCE, MODEL, DESTINATION, USAGE = 10, 11, 12, 16, 2


@dataclass(frozen=True)
class Case:
    """A mistake, and the four parts of the answer."""

    name: str
    text: str | bytes | None
    """The content of m.yaml; None: there is no such file."""
    names: str
    """The field, the file or the argument."""
    found: str
    expected: str
    write: str
    code: int = MANIFEST
    arguments: Sequence[str] = ("run", "m.yaml")
    files: Mapping[str, str] = field(default_factory=dict)
    """Besides model.pt and code/, by path."""

    def __str__(self) -> str:
        return self.name


def manifest(spec: Mapping[str, Any] | None = None, /, **root: Any) -> str:  # noqa: ANN401
    """Return a manifest that is valid but for these parts; None removes one."""
    document = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "m"},
        "spec": {**SPEC, **(spec or {})},
        **root,
    }
    document["spec"] = {key: value for key, value in document["spec"].items() if value is not None}
    return dump({key: value for key, value in document.items() if value is not None})


def source(**values: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a spec with these fields of source."""
    return {"source": {**SPEC["source"], **values}}


def model(**values: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a spec with these fields of model."""
    return {"model": {**SPEC["model"], **values}}


VALID = manifest()
OF_FILES = [
    Case(
        "no such file", None, "m.yaml", "No such file", "", "did you mean n.yaml",
        files={"n.yaml": VALID},
    ),
    Case(
        "a directory", None, "code", "Is a directory", "", "code/modelexport.yaml",
        arguments=("run", "code"), files={"code/modelexport.yaml": VALID},
    ),
    Case(
        "an empty file", "", "m.yaml", "is empty", "expected one ModelExport",
        "apiVersion: modelexport.dev",
    ),
    Case(
        "a checkpoint", b"PK\x03\x04\xff\xfe", "m.yaml", "not UTF-8", "the YAML of a ModelExport",
        "spec.source.uri",
    ),
    Case(
        "two documents", f"{VALID}---\n{VALID}", "m.yaml", "found 2 documents",
        "expected one ModelExport", "a file of its own",
    ),
    Case(
        "a tab", VALID.replace(" dims:", "\tdims:"), "line 17", "found a tab", "expected spaces",
        "replace the tab",
    ),
    Case(
        "an unclosed bracket", VALID.replace("max: 8", "max: [8"), "line 20: ",
        "expected ',' or ']'", "", "close the [ of line 20",
    ),
    Case(
        "JSON without a comma", '{"kind": "ModelExport" "spec": {}}', "m.yaml", "line 1 column 24",
        "Expecting ',' delimiter", "",
    ),
    Case(
        "a key twice", VALID + "kind: ModelExport\n", "kind", "occurs twice", "also on line 2", "",
    ),
    Case(
        "a list of manifests", "- kind: ModelExport\n", "the manifest", "found a list",
        "a YAML mapping", "without the `-`",
    ),
    Case(
        "only text", "model.pt", "the manifest", "'model.pt'", "a YAML mapping",
        "apiVersion: modelexport.dev",
    ),
]  # fmt: skip
OF_IDENTITY = [
    Case(
        "another kind", manifest(kind="ModelExports"), "kind: ",
        'no matches for kind "ModelExports"', "expected ModelExport", "write kind: ModelExport",
    ),
    Case(
        "another version", manifest(apiVersion="modelexport.dev/v1"), "apiVersion: ",
        "modelexport.dev/v1:", "modelexport.dev/v1alpha1",
        "write apiVersion: modelexport.dev/v1alpha1",
    ),
    Case(
        "no metadata", manifest(metadata=None), "metadata: ", "missing", "with name",
        "write metadata: {name:",
    ),
    Case(
        "a name with capitals", manifest(metadata={"name": "My_Model"}), "metadata.name: ",
        '"My_Model"', "a lowercase RFC 1123 subdomain must consist of", "write name: my-model",
    ),
    Case(
        "a misspelled root", manifest(sepc=SPEC), "sepc: ", "unknown field `sepc`", "",
        "did you mean `spec`?",
    ),
]  # fmt: skip
OF_FILES_NAMED = [
    Case(
        "a checkpoint that does not exist", manifest(source(uri="file://./modle.pt")),
        "spec.source.uri", "modle.pt not found", "code/, m.yaml, model.pt", "Did you mean file://",
        SOURCE,
    ),
    Case(
        "a directory as a checkpoint", manifest(source(uri="file://./code")), "spec.source.uri",
        "code is a directory", "", "End spec.source.uri with /", SOURCE,
    ),
    Case(
        "a checkpoint that is none", manifest(source(uri="file://./code/model.py")), "model.py",
        "begins with", "state_dict", "Supported: ", SOURCE,
    ),
    Case(
        "weights without a factory", manifest({"model": None}), "model.factory",
        "holds weights but no graph", "package.module:callable", "Set model.factory", MODEL,
    ),
    Case(
        "code that does not exist", manifest(model(code={"uri": "file://./src.zip"})),
        "spec.model.code.uri", "src.zip was not found", "", "correct spec.model.code.uri", MODEL,
    ),
    Case(
        "a module that does not exist", manifest(model(factory="modle:build")),
        "model.factory is modle:build",
        "no module modle in model.code, nor in this Python environment",
        "the root of model.code holds model", "Did you mean model?", MODEL,
    ),
    Case(
        "a module without code", manifest({"model": {"factory": "my_code_of_the_model:build"}}),
        "model.factory", "no module my_code_of_the_model in this Python environment",
        "package.module:callable", "in model.code", MODEL,
    ),
    Case(
        "a function that does not exist", manifest(model(factory="model:biuld")),
        "model.factory is model:biuld", "model.py has no biuld", "", "Did you mean build?", MODEL,
    ),
    Case(
        "code with a syntax error", manifest(model(factory="broken:build")), "broken.py:1",
        "SyntaxError", "", "Correct the module", MODEL, files={"code/broken.py": "def build(:\n"},
    ),
    Case(
        "golden inputs that do not exist",
        manifest({"verification": {"goldenInputs": "file://./g.npz"}}), "verification.goldenInputs",
        "g.npz was not found", ".npz or .safetensors", "correct", MANIFEST,
    ),
    Case(
        "a file as the destination", manifest({"destination": {"uri": "file://./model.pt/"}}),
        "spec.destination.uri", "model.pt is a file, not a directory", "",
        "correct spec.destination.uri", DESTINATION,
    ),
]  # fmt: skip
OF_COMMAND_LINES = [
    Case("a misspelled command", VALID, "COMMAND", "'rum'", "run", "", USAGE, ("rum", "m.yaml")),
    Case(
        "no manifest", VALID, "MANIFEST", "required", "", "usage: modelexport run", USAGE, ("run",),
    ),
    Case(
        "an unknown output", VALID, "-o/--output", "'xml'", "'text', 'json'", "", USAGE,
        ("run", "m.yaml", "-o", "xml"),
    ),
    Case(
        "an artifact that does not exist", VALID, "spec.artifact.uri", "missing.onnx not found", "",
        "Correct spec.artifact.uri", SOURCE, ("verify", "m.yaml", "--artifact", "missing.onnx"),
    ),
    Case(
        "a diagnosis of a wrong factory", manifest(model(factory="model:biuld")), "model.factory",
        "model.py has no biuld", "", "Did you mean build?", MODEL, ("diagnose", "m.yaml"),
    ),
    Case(
        "a trigger to run", manifest(kind="ModelExportTrigger"), "kind: ",
        "found ModelExportTrigger", "expected ModelExport", "modelexport render",
    ),
]  # fmt: skip
