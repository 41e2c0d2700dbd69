"""`modelexport inspect`: what an ONNX file holds, as tables, as a graph or as JSON."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from modelexport_api.reasons import ExitCode, Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.inspection import Inspection, inspect_file

if TYPE_CHECKING:
    from modelexport_exporter.storage.store import Location

_MOST_WEIGHTS = 20


def inspect_model(model: str, output: str, endpoint: str | None, *, graph: bool) -> int:
    """Print what a file or an object holds; return the exit code."""
    try:
        with _local(model, endpoint) as path:
            found = inspect_file(path, graph=graph)
    except ExportFailure as failure:
        print(f"{model}: {failure.message}", file=sys.stderr)
        return int(ExitCode.SOURCE)
    except Exception as error:  # noqa: BLE001 - onnx and protobuf raise many kinds
        text = " ".join(str(error).split())[:300]
        print(f"{model} is no ONNX file that can be read: {text}", file=sys.stderr)
        return int(ExitCode.SOURCE)
    if output == "json":
        print(found.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        print_inspection(found, Console(file=sys.stdout, highlight=False))
    return int(ExitCode.DONE if found.valid else ExitCode.CONTRACT)


@contextlib.contextmanager
def _local(model: str, endpoint: str | None) -> Iterator[Path]:
    """Yield the file on this machine, with its external data beside it."""
    if "://" not in model:
        yield Path(model)
        return
    if not model.startswith(("s3://", "file://")):
        raise ExportFailure(
            Reason.SOURCE_NOT_FOUND, "expected a path, or a URI that begins with s3:// or file://"
        )
    from modelexport_api.spec import Storage
    from modelexport_exporter.storage.store import Role, locate

    location = locate(model, Storage(endpoint=endpoint), Role.SOURCE)
    in_place = location.store.local_path(location.key)
    if in_place is not None:
        yield in_place
        return
    with tempfile.TemporaryDirectory(prefix="modelexport-inspect-") as directory:
        yield _download(location, Path(directory))


def _download(location: Location, directory: Path) -> Path:
    import onnx
    from onnx.external_data_helper import uses_external_data

    path = _fetch(location, directory)
    weights = onnx.load(str(path), load_external_data=False).graph.initializer
    names = {
        entry.value
        for tensor in weights
        if uses_external_data(tensor)
        for entry in tensor.external_data
        if entry.key == "location"
    }
    parent = location.key.rpartition("/")[0]
    for name in sorted(names):
        key = f"{parent}/{name}" if parent else name
        _fetch(type(location)(location.store, key), directory)
    return path


def _fetch(location: Location, directory: Path) -> Path:
    found = location.store.stat(location.key)
    if found is None:
        raise ExportFailure(Reason.SOURCE_NOT_FOUND, f"{location.uri} not found")
    target = directory / location.key.rpartition("/")[2]
    location.store.download(found, target, lambda _moved: None)
    return target


def print_inspection(found: Inspection, screen: Console) -> None:
    """Print the facts, the operators and the weights; the graph where it was asked for."""
    verdict = "valid" if found.valid else f"not valid: {found.problem}"
    opsets = ", ".join(f"{domain} {version}" for domain, version in found.opsets.items())
    _line(screen, "File", f"{found.file}, {found.size_bytes:,} bytes")
    _line(screen, "Checker", verdict, "green" if found.valid else "bold red")
    _line(screen, "Opsets", f"{opsets}; IR version {found.ir_version}; by {found.producer}")
    for label, tensors in (("Input", found.inputs), ("Output", found.outputs)):
        for tensor in tensors:
            shape = ", ".join(str(size) for size in tensor.shape)
            _line(screen, label, f"{tensor.name}: {tensor.dtype} [{shape}]")
    _line(screen, "Domains", ", ".join(found.custom_domains), "yellow")
    _line(screen, "Functions", ", ".join(found.functions))
    for key, value in found.metadata.items():
        _line(screen, "Metadata", f"{key}: {value[:200]}")
    _table(screen, ("operator", "nodes"), [(op, str(count)) for op, count in found.ops.items()])
    weights = sorted(found.initializers, key=lambda entry: -entry.size_bytes)
    _table(
        screen,
        ("weight", "dtype", "shape", "bytes", "file"),
        [
            (
                entry.name,
                entry.dtype,
                str(entry.shape),
                f"{entry.size_bytes:,}",
                entry.external or "",
            )
            for entry in weights[:_MOST_WEIGHTS]
        ],
    )
    if len(weights) > _MOST_WEIGHTS:
        _line(screen, "", f"and {len(weights) - _MOST_WEIGHTS} smaller weights (-o json has all)")
    if found.graph:
        screen.print(Text(found.graph), soft_wrap=True)


def _table(screen: Console, titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    if not rows:
        return
    table = Table(show_edge=False, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    screen.print(table)


def _line(screen: Console, label: str, value: str, style: str = "") -> None:
    if value:
        screen.print(Text.assemble((f"{label:<10}", "bold"), (value, style)), soft_wrap=True)
