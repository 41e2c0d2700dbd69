"""A small file that is made from another one, next to which its external data is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import onnx
from numpy.typing import NDArray

from modelexport_exporter.core.errors import ExportFailure

Array = NDArray[Any]
Named = list[tuple[str, Array]]
RunFile = Callable[[Mapping[str, Array], str], Named]
Opened = Callable[[Path], RunFile]
"""Loads a file, and returns what runs it."""


def open_probe(probe: onnx.ModelProto, path: Path, opened: Opened) -> RunFile | None:
    """Return what runs the probe; None if a runtime cannot load it without its other nodes.

    `path`: where it lies while it is loaded.
    """
    path.write_bytes(probe.SerializeToString())
    try:
        return opened(path)
    except ExportFailure:
        return None
    finally:
        path.unlink()
