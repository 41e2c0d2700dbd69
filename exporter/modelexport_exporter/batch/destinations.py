"""The destination of each checkpoint: destination.uri with its placeholders replaced.

    s3://models/run-7/fold-3.ckpt   {name} fold-3.ckpt   {stem} fold-3   {parent} run-7
    s3://models/run-7/epoch-2.5/    {name} epoch-2.5     {stem} epoch-2.5   (a directory)
    s3://models/a.fp16.safetensors                       {stem} a.fp16      {parent} models

{stem} drops one suffix, of an object only. {parent} is one name: the directory's, or the bucket's.
{index} counts from 0 without leading zeros, in the order of `uris` or of the names that a glob
matched. No two checkpoints share a destination, and none uses the batch's own directory. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.rules import violations
from modelexport_api.rules_batch import PLACEHOLDER
from modelexport_api.spec import ModelExportSpec, Source
from modelexport_exporter.core.errors import ExportFailure

BATCHES = "batches"
"""The directory of all batches, below the common root of their destinations."""

_FILE = "file://"


def root_of(template: str) -> str:
    """Return the common root of all destinations: up to the slash before the first placeholder."""
    root = re.split(PLACEHOLDER, template, maxsplit=1)[0]
    if root != template:
        root = root[: root.rfind("/") + 1]
    if re.match(r"^((s3|pvc)://[^/]+/|file:///)", root) is None:
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"destination.uri {template} has a placeholder in its bucket",
            "Name one bucket; placeholders may follow it.",
        )
    return root if root.endswith("/") else f"{root}/"


def resolve(template: str, uri: str, index: int) -> str:
    """Return one checkpoint's destination. Raises ExportFailure for an invalid name."""
    values = _values(uri, index)
    if template.startswith(_FILE):
        values = {name: quote(value) for name, value in values.items()}
    found = re.sub(PLACEHOLDER, lambda hit: values[hit[1]], template)
    for before, after in zip(template.split("/"), found.split("/"), strict=True):
        if before != after and after in {"", ".", ".."}:
            raise ExportFailure(
                Reason.INVALID_MANIFEST,
                f"{uri} would be published to {found}: {after!r} is not a valid directory name",
                "Choose other placeholders for spec.destination.uri.",
            )
    return found


def _values(uri: str, index: int) -> Mapping[str, str]:
    plain = unquote(uri.removeprefix(_FILE)) if uri.startswith(_FILE) else uri.partition("://")[2]
    parent, _, name = plain.rstrip("/").rpartition("/")
    stem = name if plain.endswith("/") else PurePosixPath(name or "/").stem
    return {
        "name": name,
        "stem": stem,
        "parent": parent.rpartition("/")[2],
        "index": str(index),
    }


def resolve_all(spec: ModelExportSpec, uris: Sequence[str]) -> list[str]:
    """Return the destination of each checkpoint. Raises ExportFailure for invalid ones."""
    template = spec.destination.uri
    own = f"{root_of(template)}{BATCHES}"
    found = [resolve(template, uri, index) for index, uri in enumerate(uris)]
    taken: dict[str, str] = {}
    for uri, destination in zip(uris, found, strict=True):
        place = destination.rstrip("/")
        if place == own or place.startswith(f"{own}/"):
            raise _collide(uri, "the directory of the batch's plan and results", destination)
        if place in taken:
            raise _collide(taken[place], uri, destination)
        taken[place] = uri
        check_rules(spec, uri, destination)
    return found


def check_rules(spec: ModelExportSpec, uri: str, destination: str) -> None:
    """Raise ExportFailure where the API rules refuse the destination."""
    broken = violations(_with_destination(spec, destination))
    if broken:
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"{uri} would be published to {destination}: {'; '.join(broken)}",
            "Rename the checkpoint, or choose other placeholders for spec.destination.uri.",
        )


def item_of(resource: ModelExport, uri: str, destination: str) -> ModelExport:
    """Return one checkpoint of a batch as an export of its own, with the same name and uid."""
    spec = resource.spec
    source = spec.source.model_copy(update={"uri": uri, "uris": None})
    single = _with_destination(spec, destination).model_copy(update={"source": source})
    return resource.model_copy(update={"spec": single})


def single_of(resource: ModelExport) -> ModelExport:
    """Return an export of one checkpoint with its destination resolved. Raises ExportFailure."""
    spec = resource.spec
    destination = resolve(spec.destination.uri, spec.source.one, 0)
    if destination == spec.destination.uri:
        return resource
    check_rules(spec, spec.source.one, destination)
    return item_of(resource, spec.source.one, destination)


def _with_destination(spec: ModelExportSpec, destination: str) -> ModelExportSpec:
    """Return the spec of one checkpoint at a destination; its source is a placeholder."""
    return spec.model_copy(
        update={
            "source": Source(uri="s3://bucket/checkpoint"),
            "destination": spec.destination.model_copy(update={"uri": destination}),
            "parallelism": 1,
            "max_failed": 0,
        }
    )


def _collide(first: str, second: str, destination: str) -> ExportFailure:
    return ExportFailure(
        Reason.DESTINATIONS_COLLIDE,
        f"{destination} would be the destination of both {first} and {second}",
        "Nothing was exported. Use a placeholder in spec.destination.uri: {name} keeps the suffix, "
        "{parent} is the directory, {index} the number.",
    )
