"""The options of `modelexport export` and `modelexport init`, for argparse."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelexport_cli.export_options import ExportOptions

EXPORT = """\
examples:
  # A Hugging Face directory, a TorchScript archive, an ExportedProgram
  modelexport export bert-base-uncased/

  # Weights, and the function that builds the module: build() in net.py
  modelexport export checkpoint.pt --factory net:build

  # State what cannot be found out, or shall be otherwise
  modelexport export checkpoint.pt --factory net:build \\
      --input 'ids:int64[batch,seq]:0..999' --dim seq=1..512 --output logits --out onnx/
"""
INIT = """\
examples:
  # Write a manifest for kubectl apply, with comments
  modelexport init s3://models/digits/checkpoint.pt --factory net:build > modelexport.yaml

  # Write a trigger that exports what each training Job writes
  modelexport init checkpoint.pt --factory net:build --trigger -f trigger.yaml
"""


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add what `export` takes."""
    _add_options(parser)
    parser.set_defaults(handler=partial(run_with_options, run=_export))
    parser.add_argument(
        "-o",
        dest="output_format",
        choices=("text", "json"),
        default="text",
        help="output format; json prints only the status to standard output (default: text)",
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "checkpoint", metavar="CHECKPOINT", help="path, s3:// or file:// URI of the checkpoint"
    )
    add_what_is_exported(parser)


def add_what_is_exported(parser: argparse._ActionsContainer) -> None:
    """Add what can be stated of a checkpoint."""
    parser.add_argument(
        "--factory",
        metavar="MODULE:CALLABLE",
        help="function or class that returns the module, for checkpoints that hold weights only",
    )
    parser.add_argument(
        "--code",
        metavar="DIR",
        help="directory or zip file of the factory's code (default: where MODULE is, in the "
        "current directory or next to the checkpoint)",
    )
    parser.add_argument(
        "--kwargs", default="{}", metavar="JSON", help="keyword arguments for the factory"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME:DTYPE[SHAPE]:RANGE",
        help="an input: 'ids:int64[batch,seq]:0..999'. Each part may be left out; what is not "
        "stated is found by running the model",
    )
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=MIN..MAX", help="sizes of a dynamic dim"
    )
    parser.add_argument(
        "--output", action="append", default=[], metavar="NAME", help="name of an output, in order"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="directory or URI to publish to (default: NAME-onnx/)"
    )
    parser.add_argument("--name", help="name of the ModelExport (default: the checkpoint's)")
    parser.add_argument("--endpoint", metavar="URL", help="URL of an S3-compatible server")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="any other field of the spec: export.opset=18, source.allowPickle=true",
    )


def export_options(args: argparse.Namespace) -> ExportOptions:
    """Return the options that were parsed. Raises ManifestError."""
    import json

    from modelexport_api.resource import ManifestError
    from modelexport_cli.export_options import (
        ExportOptions,
        parse_dim,
        parse_input,
        parse_setting,
    )

    try:
        kwargs = json.loads(args.kwargs)
    except ValueError as error:
        raise ManifestError(f"--kwargs {args.kwargs}: not JSON: {error}") from None
    if not isinstance(kwargs, dict):
        raise ManifestError(f'--kwargs {args.kwargs}: expected an object such as {{"layers": 2}}')
    return ExportOptions(
        checkpoint=args.checkpoint,
        factory=args.factory,
        code=args.code,
        kwargs=kwargs,
        inputs=tuple(map(parse_input, args.input)),
        dims=dict(map(parse_dim, args.dim)),
        outputs=tuple(args.output),
        out=args.out,
        name=args.name,
        settings=tuple(map(parse_setting, args.set)),
        endpoint=args.endpoint,
    )


def run_with_options(
    args: argparse.Namespace, run: Callable[[argparse.Namespace, ExportOptions], int]
) -> int:
    """Run a command with the options of an export; an invalid one is refused in a sentence."""
    from modelexport_api.reasons import ExitCode
    from modelexport_api.resource import ManifestError

    try:
        options = export_options(args)
    except ManifestError as error:
        print(error, file=sys.stderr)
        return int(ExitCode.MANIFEST)
    return run(args, options)


def _export(args: argparse.Namespace, options: ExportOptions) -> int:
    from modelexport_cli.export import export_checkpoint

    return export_checkpoint(options, args.output_format, args.work_dir, verbose=args.verbose)


def _init(args: argparse.Namespace, options: ExportOptions) -> int:
    from modelexport_cli.export import write_manifest

    return write_manifest(
        options, args.file, args.work_dir, trigger=args.trigger, verbose=args.verbose
    )


def add_init_options(parser: argparse.ArgumentParser) -> None:
    """Add what `init` takes."""
    _add_options(parser)
    parser.set_defaults(handler=partial(run_with_options, run=_init))
    parser.add_argument(
        "-f", "--file", type=Path, metavar="FILE", help="file to write (default: print)"
    )
    parser.add_argument(
        "--trigger", action="store_true", help="write a ModelExportTrigger for training Jobs"
    )
