"""From the options of `modelexport export` to a resource: pure, but for a look for the code."""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_api.resource import ManifestError, ModelExport, parse
from modelexport_cli.export_options import ExportOptions, name_of, out_of, uri_of
from modelexport_cli.file_inputs import aligned, renamed, sized
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.proposal import Proposal

_UNKNOWN = "unknown"
"""The input of a draft, whose inputs are found later."""


@dataclass(frozen=True)
class Draft:
    """A manifest without inputs."""

    document: dict[str, Any]
    inferred: tuple[Inferred, ...] = ()

    @property
    def resource(self) -> ModelExport:
        """Return the resource, with an input that means nothing. Raises ManifestError."""
        document = copy.deepcopy(self.document)
        document["spec"]["inputs"] = [{"name": _UNKNOWN}]
        return parse(document)


def draft_of(options: ExportOptions, directories: Iterable[Path]) -> Draft:
    """Return the manifest that the options describe. Raises ManifestError.

    `directories`: where the factory's module is looked for, if the options state no code.
    """
    local = "://" not in options.checkpoint
    is_directory = local and Path(options.checkpoint).expanduser().is_dir()
    if local and not Path(options.checkpoint).expanduser().exists():
        raise ManifestError(f"{options.checkpoint} does not exist: no such file or directory")
    out = out_of(options)
    spec: dict[str, Any] = {
        "source": {"uri": uri_of(options.checkpoint, directory=is_directory)},
        "destination": {"uri": uri_of(out, directory=True)},
    }
    inferred = []
    if options.out is None:
        inferred.append(
            Inferred(field="destination.uri", value=out, source="the checkpoint's name")
        )
    if options.endpoint is not None:
        spec["storage"] = {"endpoint": options.endpoint}
    code, found = _code(options, directories)
    if found is not None:
        inferred.append(Inferred(field="model.code.uri", value=found, source="it has the factory"))
    model = {
        "factory": options.factory,
        "kwargs": options.kwargs or None,
        "code": {"uri": code} if code else None,
    }
    if any(model.values()):
        spec["model"] = {key: value for key, value in model.items() if value}
    if options.outputs:
        spec["outputs"] = list(options.outputs)
    for path, value in options.settings:
        _set(spec, path, value)
    document = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": name_of(options)},
        "spec": spec,
    }
    return Draft(document, tuple(inferred))


def _code(options: ExportOptions, directories: Iterable[Path]) -> tuple[str | None, str | None]:
    """Return the URI of the code, and the directory that was found where none is stated."""
    if options.code is not None:
        path = Path(options.code).expanduser()
        return uri_of(options.code, directory="://" not in options.code and path.is_dir()), None
    if options.factory is None:
        return None, None
    module = options.factory.partition(":")[0].partition(".")[0]
    for directory in directories:
        if (directory / f"{module}.py").is_file() or (directory / module).is_dir():
            return uri_of(str(directory), directory=True), str(directory)
    try:
        installed = importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        installed = False
    if not installed:
        places = " or ".join(str(directory) for directory in directories)
        raise ManifestError(
            f"--factory {options.factory}: there is no {module}.py in {places}, and no installed "
            f"package {module}. Name the directory of the code with --code DIR"
        )
    return None, None


def _set(spec: dict[str, Any], path: list[str], value: object) -> None:
    at = spec
    for part in path[:-1]:
        at = at.setdefault(part, {})
        if not isinstance(at, dict):
            raise ManifestError(f"--set {'.'.join(path)}: {part} is not a map")
    at[path[-1]] = value


def complete(
    draft: Draft, proposal: Proposal, options: ExportOptions
) -> tuple[dict[str, Any], tuple[Inferred, ...]]:
    """Return the whole manifest, and what of it the user did not state. Raises ManifestError."""
    document = copy.deepcopy(draft.document)
    if not proposal.keeps_example:
        document["spec"].get("model", {}).pop("exampleInputs", None)
    inputs = [_plain(entry.to_wire()) for entry in proposal.inputs]
    files = aligned(inputs, options.file_inputs)
    inputs = renamed(inputs, files)
    dims = {name: dim.to_wire() for name, dim in proposal.dims.items()}
    inputs, dims, sizes = sized(inputs, dims, files, frozenset(options.dims))
    found = {"inputs": inputs, "dims": dims}
    order = ("source", "storage", "model", "inputs", "dims", "outputs")
    spec = {**document["spec"], **{key: value for key, value in found.items() if value}}
    first = {key: spec[key] for key in order if key in spec}
    document["spec"] = {**first, **spec}
    return document, _latest((*draft.inferred, *proposal.inferred, *sizes), dims)


def _latest(inferred: Iterable[Inferred], dims: Mapping[str, Any]) -> tuple[Inferred, ...]:
    """Return the last one for each field, and none of a dim that is left out."""
    latest = {one.field: one for one in inferred}
    return tuple(
        one
        for field, one in latest.items()
        if not field.startswith("dims.") or field.split(".")[1] in dims
    )


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input without what is the default, and with whole numbers as such."""
    plain = {key: value for key, value in entry.items() if (key, value) != ("kind", "Tensor")}
    if "range" in plain:
        plain["range"] = [int(one) if float(one).is_integer() else one for one in plain["range"]]
    return plain
