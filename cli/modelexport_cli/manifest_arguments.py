"""The subcommands that take a manifest or a file, and their flags.

Only the standard library is imported here, so that `--help` is fast.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from modelexport_cli.command_options import add_command, add_output, add_verbose, add_work_dir

_RUN = """\
examples:
  # Export a checkpoint, verify the ONNX file and publish it to spec.destination
  modelexport run modelexport.yaml

  # Print the status of the ModelExport as JSON
  modelexport run modelexport.yaml -o json
"""
_VERIFY = """\
examples:
  # Verify the artifact that is published at spec.destination
  modelexport verify modelexport.yaml

  # Verify an ONNX file that another exporter wrote
  modelexport verify modelexport.yaml --artifact other/model.onnx
"""
_DIAGNOSE = """\
examples:
  # List the operators and the lines of code that would make the export fail
  modelexport diagnose modelexport.yaml

  # Write a plugin skeleton for each operator that cannot be translated
  modelexport diagnose modelexport.yaml --skeleton plugins/
"""
_INSPECT = """\
examples:
  # Show inputs, outputs, operators and weights
  modelexport inspect model.onnx

  # Show the graph of a file on an S3-compatible server
  modelexport inspect s3://models/model.onnx --graph --endpoint https://s3.example.com
"""
_RENDER = """\
examples:
  # Print the Job for a ModelExport
  modelexport render modelexport.yaml

  # Print the ModelExport that a trigger would create for a finished Job
  kubectl get job train-42 -o yaml | modelexport render trigger.yaml --for -
"""


def add_commands(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    """Add the subcommands."""
    _add_run(commands)
    _add_verify(commands)
    _add_diagnose(commands)
    _add_inspect(commands)
    _add_render(commands)


def _add_run(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    run = add_command(
        commands,
        "run",
        "export a checkpoint, verify the result and publish it",
        "Export, verify and publish on this machine what a ModelExport describes. No\n"
        "cluster is needed. URIs that begin with file://./ are relative to the manifest.\n"
        "For S3 the usual AWS environment variables and configuration files are used.",
        _RUN,
    )
    _add_manifest(run)
    add_output(run, "the status that the ModelExport would get")
    add_work_dir(run)
    add_verbose(run)
    run.set_defaults(handler=_run)


def _run(args: argparse.Namespace) -> int:
    from modelexport_cli.run import run_manifest

    return run_manifest(args.manifest, args.output, args.work_dir, verbose=args.verbose)


def _add_verify(commands: Any) -> None:  # noqa: ANN401
    verify = add_command(
        commands,
        "verify",
        "compare an existing ONNX file with its checkpoint",
        "Run an existing ONNX file and compare its outputs with eager PyTorch on the\n"
        "checkpoint of the manifest. Only a report is published, below verifications/ at\n"
        "the destination.",
        _VERIFY,
    )
    _add_manifest(verify)
    verify.add_argument(
        "--artifact",
        metavar="URI",
        help="path, file:// or s3:// URI of the ONNX file (default: spec.artifact of the "
        "manifest, else the artifact published at spec.destination)",
    )
    add_output(verify, "the status that the ModelExport would get")
    add_work_dir(verify)
    add_verbose(verify)
    verify.set_defaults(handler=_verify)


def _verify(args: argparse.Namespace) -> int:
    from modelexport_cli.verify import verify_manifest

    return verify_manifest(
        args.manifest, args.artifact, args.output, args.work_dir, verbose=args.verbose
    )


def _add_diagnose(commands: Any) -> None:  # noqa: ANN401
    diagnose = add_command(
        commands,
        "diagnose",
        "find what would make an export fail, without exporting",
        "Load the model and list operators that cannot be translated, lines of code that\n"
        "change their meaning in a graph, and dims that would become constants. The exit\n"
        "code is 0 if no problem was found.",
        _DIAGNOSE,
    )
    _add_manifest(diagnose)
    add_output(diagnose, "the diagnosis")
    diagnose.add_argument(
        "--skeleton",
        type=Path,
        metavar="DIR",
        help="write a plugin skeleton for each operator that cannot be translated",
    )
    diagnose.add_argument(
        "--timeout",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="stop the diagnosis after this time (default: 300)",
    )
    add_work_dir(diagnose)
    add_verbose(diagnose)
    diagnose.set_defaults(handler=_diagnose)


def _diagnose(args: argparse.Namespace) -> int:
    from modelexport_cli.diagnose import diagnose_manifest

    return diagnose_manifest(
        args.manifest,
        args.output,
        args.skeleton,
        args.timeout,
        args.work_dir,
        verbose=args.verbose,
    )


def _add_inspect(commands: Any) -> None:  # noqa: ANN401
    inspect = add_command(
        commands,
        "inspect",
        "show the content of an ONNX file",
        "Check an ONNX file and show its opsets, inputs, outputs, operators and weights.\n"
        "The exit code is 0 if the file is valid.",
        _INSPECT,
    )
    inspect.add_argument("model", metavar="MODEL", help="path, file:// or s3:// URI of the file")
    inspect.add_argument("--graph", action="store_true", help="also show the graph as text")
    inspect.add_argument("--endpoint", metavar="URL", help="URL of an S3-compatible server")
    add_output(inspect, "the content")
    inspect.set_defaults(handler=_inspect)


def _inspect(args: argparse.Namespace) -> int:
    from modelexport_cli.inspect_model import inspect_model

    return inspect_model(args.model, args.output, args.endpoint, graph=args.graph)


def _add_render(commands: Any) -> None:  # noqa: ANN401
    render = add_command(
        commands,
        "render",
        "print the object that the operator would create",
        "Print as YAML what the operator, with its default settings, would create: the\n"
        "Job for a ModelExport, or the ModelExport for a trigger and a finished object.",
        _RENDER,
    )
    _add_manifest(render)
    render.add_argument(
        "--image",
        default="modelexport-exporter",
        help="exporter image of the Job (default: modelexport-exporter)",
    )
    render.add_argument(
        "--for",
        dest="finished",
        type=Path,
        metavar="OBJECT",
        help="YAML of the finished object, for a trigger; - reads standard input",
    )
    render.set_defaults(handler=_render)


def _render(args: argparse.Namespace) -> int:
    from modelexport_cli.render import render_manifest

    return render_manifest(args.manifest, args.image, args.finished)


def _add_manifest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="YAML file of the resource")
