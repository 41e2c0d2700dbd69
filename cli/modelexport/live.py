"""Exports a module of this process, in a process of its own: the same pipeline as in a pod.

The module is written down as its state_dict and a factory, so that it goes the way of every
checkpoint: nothing here runs in the caller's process but the writing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport.child import run
from modelexport.live_module import arguments_of, write_live
from modelexport.onnx_names import input_names
from modelexport.result import Result
from modelexport_api.spec import Dim
from modelexport_cli.export_options import ExportOptions, Setting, parse_input

if TYPE_CHECKING:
    import torch

Sizes = Dim | tuple[int, int] | int
"""Of a dynamic dim: the smallest and the largest, or the largest."""


def export(
    model: torch.nn.Module,
    args: Any = (),  # noqa: ANN401 - arguments of forward
    kwargs: Mapping[str, Any] | None = None,
    *,
    dims: Mapping[str, Sizes] | None = None,
    inputs: Iterable[str] = (),
    outputs: Sequence[str] = (),
    out: str | Path | None = None,
    progress: bool = True,
    **spec: Any,  # noqa: ANN401
) -> Result:
    """Export a module to ONNX and verify the file against it.

    `args`, `kwargs`: an example of forward's arguments; one tensor stands for itself. Their sizes
    are where the search for dynamic dims begins: every size that forward accepts otherwise, too, is
    one. `dims`: sizes by the names of dims. `inputs`: what else is known of inputs, as the
    command's `--input` takes it (`ids:int64[batch,seq]:0..999`); it may take the place of `args`.
    `out`: directory to publish to, `<class>-onnx` by default. `spec`: more fields of the spec of a
    ModelExport, such as `export={"opset": 18}`.

    Raises ExportError, which has the reason, the message and a hint, if no file was verified.
    """
    with tempfile.TemporaryDirectory(prefix="modelexport-live-") as directory:
        live = write_live(Path(directory), model, arguments_of(args, kwargs))
        name = type(model).__name__.lower()
        options = ExportOptions(
            checkpoint=str(live.checkpoint),
            factory=live.factory,
            code=str(live.code),
            inputs=tuple(map(parse_input, inputs)),
            dims=_dims(dims),
            outputs=tuple(outputs),
            out=str(Path(out or f"{name}-onnx").resolve()),
            name=name,
            settings=(*live.settings, *_settings(spec)),
        )
        return run(options, progress=progress)


def verify(
    path: str | Path,
    model: torch.nn.Module,
    args: Any = (),  # noqa: ANN401
    kwargs: Mapping[str, Any] | None = None,
    *,
    dims: Mapping[str, Sizes] | None = None,
    inputs: Iterable[str] = (),
    progress: bool = True,
    **spec: Any,  # noqa: ANN401
) -> Result:
    """Compare an ONNX file, whoever wrote it, with a module. Raises ExportError if they differ.

    The inputs of the file are forward's, in order. The report is written to `verifications/` beside
    the file.
    """
    from modelexport.child import run

    file = Path(path).resolve()
    with tempfile.TemporaryDirectory(prefix="modelexport-live-") as directory:
        merged = {"mode": "Verify", "artifact": {"uri": file.as_uri()}, **spec}
        live = write_live(Path(directory), model, arguments_of(args, kwargs))
        options = ExportOptions(
            checkpoint=str(live.checkpoint),
            factory=live.factory,
            code=str(live.code),
            inputs=tuple(map(parse_input, inputs)),
            dims=_dims(dims),
            out=str(file.parent),
            name=type(model).__name__.lower(),
            settings=(*live.settings, *_settings(merged)),
            input_names=input_names(file),
        )
        return run(options, progress=progress)


def _dims(dims: Mapping[str, Sizes] | None) -> dict[str, Dim]:
    return {name: _dim(sizes) for name, sizes in (dims or {}).items()}


def _dim(sizes: Sizes) -> Dim:
    if isinstance(sizes, Dim):
        return sizes
    low, high = sizes if isinstance(sizes, tuple) else (1, sizes)
    return Dim(min=low, max=high)


def _settings(spec: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Yield path and value of each field of a part of the spec."""
    for name, value in spec.items():
        here = (*path, name)
        if isinstance(value, Mapping):
            yield from _settings(value, here)
        else:
            yield [*here], value
