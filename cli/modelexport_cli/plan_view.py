"""What an export is going to do, shown before the work begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from modelexport_api.resource import ModelExport
from modelexport_api.spec import Model
from modelexport_cli.export_options import LIVE_MODULE
from modelexport_cli.screen import print_value
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.proposal import Proposal

_OPTIONS = "--input, --dim or --out"
_ARGUMENTS = "inputs, dims or out"


def print_plan(
    resource: ModelExport, proposal: Proposal, inferred: Sequence[Inferred], console: Console
) -> None:
    """Print inputs, dims and destination, and how each was found that the user did not state."""
    factory = resource.spec.model.factory if resource.spec.model else None
    is_live = resource.spec.model is not None and _is_live(resource.spec.model)
    through = f" of {factory}" if factory and not is_live else ""
    print_value(
        console,
        "Model",
        f"{proposal.model}{through}, {proposal.parameters:,} parameters, {proposal.format.value}",
    )
    sources = {one.field: one.source for one in inferred}
    for line in _lines(resource, sources):
        print_value(console, *line)
    if inferred:
        how = _ARGUMENTS if is_live else _OPTIONS
        console.print(Text(f"          * inferred; state another value with {how}", "dim"))


def _lines(resource: ModelExport, sources: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    spec = resource.spec
    for place, entry in enumerate(spec.inputs):
        shape = ", ".join(map(str, entry.shape))
        kind = "" if entry.kind.value == "Tensor" else f", {entry.kind.value}"
        limits = f", {entry.range[0]:.10g}..{entry.range[1]:.10g}" if entry.range else ""
        text = f"{entry.name}: {entry.dtype.value} [{shape}]{kind}{limits}"
        yield "Input", _marked(text, sources, f"inputs[{place}].shape", f"inputs[{place}].range")
    for name, dim in spec.dims.items():
        yield "Dim", _marked(f"{name}: {dim.min}..{dim.max}", sources, f"dims.{name}")
    if spec.outputs:
        yield "Outputs", ", ".join(spec.outputs)
    if spec.model is not None and spec.model.code is not None and not _is_live(spec.model):
        yield "Code", _marked(_path(spec.model.code.uri), sources, "model.code.uri")
    yield "To", _marked(_path(spec.destination.uri), sources, "destination.uri")


def _is_live(model: Model) -> bool:
    """Return whether the module is of a process that wrote it down: its files mean nothing."""
    return any(
        (name or "").startswith(LIVE_MODULE) for name in (model.factory, model.example_inputs)
    )


def _marked(text: str, sources: Mapping[str, str], *fields: str) -> str:
    found = dict.fromkeys(sources[field] for field in fields if field in sources)
    return f"{text}  * {'; '.join(found)}" if found else text


def _path(uri: str) -> str:
    return uri.removeprefix("file://")
