"""What `submit` sends, and how it compares with what exists. Pure, but for reading the file.

The document is sent as it was written: the API server sets the defaults. It is parsed only so that
errors are found here, with the sentences of `modelexport run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from modelexport_api.immutability import MUTABLE
from modelexport_api.reasons import ExitCode
from modelexport_api.resource import ManifestError, one_document, parse
from modelexport_api.spec import ModelExportSpec
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.manifest_file import read_text

Body = Mapping[str, Any]
_KEPT = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences")
"""Metadata that a user writes; the rest belongs to the API server."""
_FREE_FORM = ("podTemplate", "kwargs", "args")
_RELATIVE = "file://./"


@dataclass(frozen=True)
class Manifest:
    """A ModelExport to create."""

    body: Body
    namespace: str | None
    """None: the namespace of the context."""
    label: str
    """Its name in sentences."""


def read_manifest(source: str | Path | Mapping[str, Any], namespace: str | None) -> Manifest:
    """Return the ModelExport in a file, in YAML text or in a mapping. Raises ClusterError."""
    subject = "the manifest"
    try:
        if isinstance(source, Mapping):
            return prepare(source, namespace)
        if isinstance(source, str) and "\n" in source:
            return prepare(one_document(source), namespace)
        subject = str(source)
        return prepare(one_document(read_text(Path(source)), subject), namespace)
    except ManifestError as error:
        raise ClusterError(
            f"{subject}: {error}", exit_code=int(ExitCode.MANIFEST), reason="InvalidManifest"
        ) from None


def prepare(document: object, namespace: str | None) -> Manifest:
    """Return what is sent for a document. Raises ManifestError."""
    problems = list(_local_uris(document, ""))
    if problems:
        raise ManifestError("\n".join(problems))
    checked = _with_name(document)
    name = parse(checked).metadata.name
    assert isinstance(document, Mapping)
    metadata = {key: value for key, value in document["metadata"].items() if key in _KEPT}
    own = metadata.get("namespace")
    if own and namespace and own != namespace:
        raise ManifestError(
            f"metadata.namespace: expected {namespace}, as --namespace says, found {own}; "
            "leave out one of them"
        )
    body = {**{key: document[key] for key in ("apiVersion", "kind", "spec")}, "metadata": metadata}
    return Manifest(body, own, metadata.get("name") or name)


def recreated(raw: Body) -> dict[str, Any]:
    """Return what creates an object of the API server once more: same spec, labels, owners."""
    metadata = {key: value for key, value in raw["metadata"].items() if key in _KEPT}
    metadata.pop("generateName", None)
    return {
        "apiVersion": raw["apiVersion"],
        "kind": raw["kind"],
        "metadata": metadata,
        "spec": {key: value for key, value in raw["spec"].items() if key != "suspend"},
    }


def differences(wanted: Body, existing: Body) -> list[str]:
    """Return `field: value here, value in the cluster` for each immutable field that differs."""
    ours, theirs = _with_defaults(wanted), _with_defaults(existing)
    return [
        f"spec{path}: {_shown(here)} here, {_shown(there)} in the cluster"
        for path, here, there in _unequal(ours, theirs, "")
    ]


def _with_name(document: object) -> object:
    """Return the document with a name to check it by, if the API server is to generate one."""
    if not isinstance(document, Mapping) or not isinstance(document.get("metadata"), Mapping):
        return document
    metadata = document["metadata"]
    if metadata.get("name") or not metadata.get("generateName"):
        return dict(document)
    return {**document, "metadata": {**metadata, "name": f"{metadata['generateName']}x"}}


def _local_uris(value: object, path: str) -> Iterator[str]:
    """Yield an error for each URI that is relative to the manifest."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _FREE_FORM:
                yield from _local_uris(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _local_uris(item, f"{path}.{index}")
    elif isinstance(value, str) and value.startswith(_RELATIVE):
        yield (
            f"{path}: {value} is a file of this machine, which the pods of a cluster cannot read; "
            "upload it and write s3://BUCKET/KEY, or copy it to the volume of a "
            "PersistentVolumeClaim and write pvc://CLAIM/PATH"
        )


def _with_defaults(spec: Body) -> Any:  # noqa: ANN401 - JSON
    """Return the immutable part of a spec with all defaults, so that only meaning is compared."""
    try:
        spec = ModelExportSpec.model_validate(spec).to_wire()
    except ValidationError:  # stored by another version
        spec = dict(spec)
    return {key: value for key, value in spec.items() if key not in MUTABLE}


def _unequal(here: Any, there: Any, path: str) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        for key in dict.fromkeys([*here, *there]):
            yield from _unequal(here.get(key), there.get(key), f"{path}.{key}")
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        for index, (ours, theirs) in enumerate(zip(here, there, strict=True)):
            yield from _unequal(ours, theirs, f"{path}[{index}]")
    elif here != there:
        yield path, here, there


def _shown(value: object) -> str:
    text = "not set" if value is None else str(value)
    most = 60
    return text if len(text) <= most else f"{text[:most]}…"
