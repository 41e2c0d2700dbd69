"""The manifest that options describe, before and after the inputs are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from modelexport_api.resource import ManifestError, parse
from modelexport_api.spec import Dim, DType, Format, Input, InputKind
from modelexport_cli.draft import complete, draft_of
from modelexport_cli.export_options import ExportOptions
from modelexport_cli.file_inputs import FileInput
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.proposal import Proposal


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "net.pt"
    path.write_bytes(b"weights")
    return path


def proposal(*inputs: Input, keeps_example: bool = False) -> Proposal:
    return Proposal(
        inputs, {"batch": Dim(max=32)}, (), Format.STATE_DICT, "Net", 10, 1, keeps_example
    )


X = Input(name="x", dtype=DType.FLOAT32, shape=["batch", 3])


def test_the_code_is_where_the_factorys_module_is(checkpoint: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "net.py").write_text("")
    options = ExportOptions(str(checkpoint), factory="net:build")
    draft = draft_of(options, (tmp_path, code))
    assert draft.document["spec"]["model"]["code"] == {"uri": f"file://{code}/"}
    assert [one.field for one in draft.inferred] == ["destination.uri", "model.code.uri"]


def test_an_installed_package_needs_no_code(checkpoint: Path, tmp_path: Path) -> None:
    options = ExportOptions(str(checkpoint), factory="json.decoder:JSONDecoder", out="out")
    draft = draft_of(options, (tmp_path,))
    assert draft.document["spec"]["model"] == {"factory": "json.decoder:JSONDecoder"}
    assert draft.inferred == ()


def test_a_factory_that_is_nowhere_is_refused_with_the_places(checkpoint: Path) -> None:
    options = ExportOptions(str(checkpoint), factory="nowhere:build")
    with pytest.raises(ManifestError, match=r"no nowhere\.py in /a or /b") as caught:
        draft_of(options, (Path("/a"), Path("/b")))
    assert "--code DIR" in str(caught.value)


def test_a_checkpoint_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"gone\.pt does not exist"):
        draft_of(ExportOptions("gone.pt"), ())


def test_settings_reach_any_field(checkpoint: Path) -> None:
    settings = ((["export", "opset"], 18), (["verification", "benchmark"], False))
    draft = draft_of(ExportOptions(str(checkpoint), settings=settings), ())
    resource = draft.resource
    assert resource.spec.export.opset == 18
    assert not resource.spec.verification.benchmark


def test_a_setting_below_a_value_is_refused(checkpoint: Path) -> None:
    settings = ((["source", "uri", "x"], 1),)
    with pytest.raises(ManifestError, match="uri is not a map"):
        draft_of(ExportOptions(str(checkpoint), settings=settings), ())


def test_the_complete_manifest_parses(checkpoint: Path) -> None:
    options = ExportOptions(str(checkpoint), outputs=("logits",))
    document, _ = complete(draft_of(options, ()), proposal(X), options)
    resource = parse(document)
    assert list(resource.spec.inputs) == [X]
    assert [*document["spec"]][:3] == ["source", "inputs", "dims"]


def test_the_example_stays_only_where_inputs_cannot_describe_it(checkpoint: Path) -> None:
    settings = ((["model", "exampleInputs"], "net:example"),)
    options = ExportOptions(str(checkpoint), settings=settings)
    draft = draft_of(options, ())
    assert "exampleInputs" not in complete(draft, proposal(X), options)[0]["spec"]["model"]
    kept = complete(draft, proposal(X, keeps_example=True), options)[0]
    assert kept["spec"]["model"]["exampleInputs"] == "net:example"


def test_names_and_sizes_of_an_existing_file_take_the_place_of_those_found(
    checkpoint: Path,
) -> None:
    options = ExportOptions(str(checkpoint), file_inputs=(FileInput("input.1", (2, 3)),))
    scale = Input(name="scale", kind=InputKind.CONSTANT, value=2)
    found = replace(
        proposal(scale, X),
        inferred=(
            Inferred(field="inputs[1].shape", value="batch, 3", source="the example inputs"),
            Inferred(field="dims.batch", value="1..32", source="ran at 1 and 32"),
        ),
    )
    document, inferred = complete(draft_of(options, ()), found, options)
    inputs = document["spec"]["inputs"]
    assert [(entry["name"], entry.get("shape")) for entry in inputs] == [
        ("scale", []),
        ("input.1", [2, 3]),
    ]
    assert "dims" not in document["spec"]
    sources = {one.field: one.source for one in inferred}
    assert sources["inputs[1].shape"] == "the file"
    assert "dims.batch" not in sources
