"""Exports a module of this process, in a process of its own: the same pipeline as in a pod.

The module is written down as its state_dict and a factory, so that it goes the way of every
checkpoint: nothing here runs in the caller's process but the writing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport.arguments import Sizes, arguments_of, dims_of, inputs_of, settings_of
from modelexport.child import run
from modelexport.onnx_inputs import inputs_of_file
from modelexport.result import Result
from modelexport_cli.export_options import ExportOptions, plain_name

if TYPE_CHECKING:
    import torch

    Model = torch.nn.Module | torch.jit.ScriptFunction[Any, Any] | torch.export.ExportedProgram


def export(
    model: Model,
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
    """Export a model to ONNX in eval mode, verify the file against it, and publish the file.

    `model`: a module, which stays as it is; or what torch.jit or torch.export made of one.
    `args`, `kwargs`: an example of forward's arguments. A tuple or a list has the positional ones,
    a dict whose keys are parameters of forward has those; any other value is the only argument.
    The sizes of the example are where the search for dynamic dims begins: all other sizes that
    forward accepts are exported, too.
    `dims`: sizes by the names of dims: `{"batch": (1, 64)}`, or the largest: `{"batch": 64}`.
    `inputs`: what else is known of inputs, as the command's `--input` takes it:
    `["ids:int64[batch,seq]:0..999"]`. It may take the place of `args`.
    `outputs`: names of the outputs, in order.
    `out`: directory to publish to, or its s3:// URI; by default `<class>-onnx` here.
    `progress`: whether to show what is being done.
    `spec`: more fields of the spec of a ModelExport, such as `export={"opset": 20}`.

    Raises ExportError, which has the reason, the message and a hint, if no file was verified.
    """
    stated = ExportOptions(
        checkpoint="",
        inputs=inputs_of(inputs),
        dims=dims_of(dims),
        outputs=tuple(outputs),
        out=None if out is None else _place(out),
        settings=settings_of(spec),
    )
    return _run(model, args, kwargs, stated, progress=progress)


def verify(
    path: str | Path,
    model: Model,
    args: Any = (),  # noqa: ANN401
    kwargs: Mapping[str, Any] | None = None,
    *,
    dims: Mapping[str, Sizes] | None = None,
    inputs: Iterable[str] = (),
    progress: bool = True,
    **spec: Any,  # noqa: ANN401
) -> Result:
    """Compare an ONNX file, which any exporter wrote, with a model in eval mode.

    The inputs of the file are forward's, in order. Sizes that the file fixes are not varied, unless
    `dims` states them. The report is written to `verifications/`, next to the file. The arguments
    are those of `export`.

    Raises ExportError, which has the reason, the message and a hint, if they differ.
    """
    file = Path(path).expanduser().resolve()
    stated = ExportOptions(
        checkpoint="",
        inputs=inputs_of(inputs),
        dims=dims_of(dims),
        out=str(file.parent),
        settings=settings_of({"mode": "Verify", "artifact": {"uri": file.as_uri()}, **spec}),
        file_inputs=inputs_of_file(file),
    )
    return _run(model, args, kwargs, stated, progress=progress)


def _place(out: str | Path) -> str:
    return str(out) if "://" in str(out) else str(Path(out).expanduser().resolve())


def _run(
    model: Model,
    args: Any,  # noqa: ANN401
    kwargs: Mapping[str, Any] | None,
    stated: ExportOptions,
    *,
    progress: bool,
) -> Result:
    from modelexport.live_module import class_name, forward_of, write_live

    arguments = arguments_of(args, kwargs, forward_of(model))
    with tempfile.TemporaryDirectory(prefix="modelexport-live-") as temporary:
        directory = Path(temporary)
        live = write_live(directory, model, arguments)
        name = plain_name(class_name(model))
        options = replace(
            stated,
            checkpoint=str(live.checkpoint),
            factory=live.factory,
            code=str(live.code),
            out=stated.out or str(Path(f"{name}-onnx").resolve()),
            name=name,
            settings=(*live.settings, *stated.settings),
        )
        return run(options, directory, places=live.places, progress=progress)
