from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.manifest import differences, read_manifest, recreated
from unit.cli.cluster.objects import MANIFEST, SPEC


def manifest(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        **MANIFEST,
        "metadata": metadata or {"name": "digits"},
        "spec": {**SPEC, **spec},
    }


def test_a_file_a_text_and_a_mapping_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(yaml.safe_dump(MANIFEST))
    found = [
        read_manifest(source, None) for source in (path, str(path), path.read_text(), MANIFEST)
    ]
    assert all(entry == found[0] for entry in found)
    assert found[0].body == MANIFEST, "no default is added"


def test_what_the_api_server_wrote_is_left_out() -> None:
    metadata = {"name": "digits", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}}
    found = read_manifest({**manifest(metadata), "status": {"phase": "Failed"}}, None)
    assert found.body == manifest({"name": "digits", "labels": {"a": "b"}})


def test_a_name_may_be_generated_by_the_api_server() -> None:
    found = read_manifest(manifest({"generateName": "digits-"}), None)
    assert found.body["metadata"] == {"generateName": "digits-"}


@pytest.mark.parametrize(
    ("own", "chosen", "expected"),
    [(None, None, None), ("team", None, "team"), ("team", "team", "team"), (None, "team", None)],
)
def test_the_namespace_of_the_manifest(own: str, chosen: str, expected: str) -> None:
    metadata = {"name": "digits", **({"namespace": own} if own else {})}
    assert read_manifest(manifest(metadata), chosen).namespace == expected


@pytest.mark.parametrize(
    ("document", "namespace", "message"),
    [
        (manifest({"name": "digits", "namespace": "a"}), "b", "expected b, as --namespace says"),
        (manifest(destination={"uri": "file://./onnx/"}), None, "spec.destination.uri: file://./"),
        (manifest(source={"uris": ["file://./a.pt"]}), None, "spec.source.uris.0: file://./a.pt"),
        (manifest(source=None), None, "spec.source"),
        ({"kind": "ModelExport"}, None, "metadata"),
        ([1], None, "not a YAML mapping"),
    ],
)
def test_an_invalid_manifest_is_refused_before_it_is_sent(
    tmp_path: Path,
    document: Any,  # noqa: ANN401
    namespace: str | None,
    message: str,
) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(ClusterError) as caught:
        read_manifest(path, namespace)
    assert caught.value.exit_code == 10
    assert message in caught.value.message


def test_a_value_of_the_users_own_is_no_uri() -> None:
    model = {"factory": "digits:build", "kwargs": {"path": "file://./x"}}
    read_manifest(manifest(model=model), None)


@pytest.mark.parametrize(
    ("wanted", "existing", "expected"),
    [
        ({}, {}, []),
        ({}, {"export": {"opset": 20}}, []),
        ({"suspend": True}, {"ttlSecondsAfterFinished": 5}, []),
        ({"export": {"opset": 18}}, {}, ["spec.export.opset: 18 here, 20 in the cluster"]),
        (
            {"outputs": ["logits"]},
            {},
            ["spec.outputs: ['logits'] here, [] in the cluster"],
        ),
        (
            {},
            {"inputs": [{"name": "image", "shape": ["batch", 3, 8, 8]}]},
            ["spec.inputs[0].shape[1]: 1 here, 3 in the cluster"],
        ),
        (
            {},
            {"storage": {"secretName": "s3"}},
            ["spec.storage.secretName: not set here, s3 in the cluster"],
        ),
        (
            {},
            {"unknown": 1},
            None,
        ),
    ],
)
def test_specs_are_compared_by_their_meaning(
    wanted: dict[str, Any], existing: dict[str, Any], expected: list[str] | None
) -> None:
    found = differences({**SPEC, **wanted}, {**SPEC, **existing})
    assert found if expected is None else found == expected


def test_an_object_is_created_again_as_a_user_would_write_it() -> None:
    metadata = {
        "name": "digits-x7",
        "generateName": "digits-",
        "namespace": "team",
        "uid": "u",
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
        "ownerReferences": [{"name": "trigger"}],
        "finalizers": ["foregroundDeletion"],
        "creationTimestamp": "2026-01-02T03:04:05Z",
    }
    found = recreated({**manifest(metadata, suspend=True), "status": {"phase": "Failed"}})
    kept = {"name", "namespace", "labels", "annotations", "ownerReferences"}
    assert found == manifest({key: metadata[key] for key in metadata if key in kept})
