"""`modelexport inspect`: the content of an ONNX file, as tables, as a graph or as JSON."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from modelexport_api.reasons import ExitCode, Reason
from modelexport_cli.screen import console_for, print_table, print_value
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.inspection import Inspection, inspect_file

if TYPE_CHECKING:
    from modelexport_exporter.storage.store import Location

_MOST_WEIGHTS = 20


def inspect_model(model: str, output: str, endpoint: str | None, *, graph: bool) -> int:
    """Print the content of a file or an S3 object; return the exit code."""
    try:
        with _local(model, endpoint) as path:
            found = inspect_file(path, graph=graph)
    except ExportFailure as failure:
        print(f"{model}: {failure.message}", file=sys.stderr)
        return int(ExitCode.SOURCE)
    except Exception as error:  # noqa: BLE001 - onnx and protobuf raise many kinds
        text = " ".join(str(error).split())[:300]
        print(f"{model} is not a readable ONNX file: {text}", file=sys.stderr)
        return int(ExitCode.SOURCE)
    if output == "json":
        print(found.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        print_inspection(found, console_for(sys.stdout))
    return int(ExitCode.DONE if found.valid else ExitCode.CONTRACT)


@contextlib.contextmanager
def _local(model: str, endpoint: str | None) -> Iterator[Path]:
    """Yield the path of the file, which is downloaded with its external data if it is on S3."""
    if "://" not in model:
        yield Path(model)
        return
    if not model.startswith(("s3://", "file://")):
        raise ExportFailure(
            Reason.SOURCE_NOT_FOUND, "expected a path, or a URI that begins with s3:// or file://"
        )
    from modelexport_api.spec import Storage
    from modelexport_exporter.storage.locate import locate
    from modelexport_exporter.storage.store import Role

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


def print_inspection(found: Inspection, console: Console) -> None:
    """Print properties, operators and weights, and the graph if there is one."""
    verdict = "valid" if found.valid else f"not valid: {found.problem}"
    opsets = ", ".join(f"{domain} {version}" for domain, version in found.opsets.items())
    print_value(console, "File", f"{found.file}, {found.size_bytes:,} bytes", wrap=False)
    print_value(console, "Checker", verdict, "green" if found.valid else "bold red")
    producer = f"; produced by {found.producer}" if found.producer else ""
    print_value(console, "Opsets", f"{opsets}; IR version {found.ir_version}{producer}")
    for label, tensors in (("Input", found.inputs), ("Output", found.outputs)):
        for tensor in tensors:
            shape = ", ".join(str(size) for size in tensor.shape)
            print_value(console, label, f"{tensor.name}: {tensor.dtype} [{shape}]")
    print_value(console, "Domains", ", ".join(found.custom_domains), "yellow")
    print_value(console, "Functions", ", ".join(found.functions))
    for key, value in found.metadata.items():
        print_value(console, "Metadata", f"{key}: {value[:200]}")
    ops = ((op, str(count)) for op, count in found.ops.items())
    print_table(console, ("operator", "nodes"), ops)
    weights = sorted(found.initializers, key=lambda entry: -entry.size_bytes)
    print_table(
        console,
        ("weight", "dtype", "shape", "bytes", "file"),
        (
            (
                entry.name,
                entry.dtype,
                str(entry.shape),
                f"{entry.size_bytes:,}",
                entry.external or "",
            )
            for entry in weights[:_MOST_WEIGHTS]
        ),
    )
    if len(weights) > _MOST_WEIGHTS:
        omitted = len(weights) - _MOST_WEIGHTS
        print_value(console, "", f"… {omitted} smaller weights (-o json lists all)", "dim")
    if found.graph:
        console.print(found.graph, soft_wrap=True, markup=False, emoji=False)
