"""`modelexport submit` of a checkpoint: what it takes is found here, the export runs there."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial

from modelexport_cli.export_arguments import add_what_is_exported, export_options

_STORE = "s3://"


def let_submit_take_checkpoints(submit: argparse.ArgumentParser, prog: str) -> None:
    """Give the command the options of `export`, for a checkpoint in the place of the manifest."""
    group = submit.add_argument_group("checkpoint", "in the place of a manifest, as for `export`")
    add_what_is_exported(group)
    submit.set_defaults(handler=partial(run_submit, prog=prog))


def run_submit(args: argparse.Namespace, prog: str) -> int:
    """Submit a manifest, or the one of a checkpoint; return the exit code."""
    from modelexport_cli.cluster.commands import run_command

    if args.manifest.startswith(_STORE):
        failed = _find_inputs(args)
        if failed is not None:
            return failed
    elif args.output:
        print(
            f"--output {args.output[0]} names an output of a checkpoint, and {args.manifest} is a "
            "manifest. The format of the result is -o json",
            file=sys.stderr,
        )
        return 2
    return run_command(args, prog)


def _find_inputs(args: argparse.Namespace) -> int | None:
    """Put the manifest of the checkpoint in its place; return an exit code if there is none."""
    from contextlib import ExitStack
    from datetime import UTC, datetime

    from modelexport_api.resource import ManifestError
    from modelexport_cli.export import failed_result, infer
    from modelexport_cli.export_options import name_of
    from modelexport_cli.run import default_work_dir, print_result
    from modelexport_exporter.core.errors import ExportFailure

    started = datetime.now(UTC)
    args.checkpoint = args.manifest
    try:
        options = export_options(args)
        if options.out is None:
            directory = options.checkpoint.rstrip("/").rpartition("/")[0]
            options = replace(options, out=f"{directory}/{name_of(options)}-onnx/")
        with ExitStack() as held:
            args.manifest = infer(options, default_work_dir(), held).document
    except (ManifestError, ExportFailure) as error:
        return print_result(failed_result(error), None, started, args.output_format, sys.stdout)
    return None
