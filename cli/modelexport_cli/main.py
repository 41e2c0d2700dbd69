"""The command line: the subcommands and their flags.

Only the standard library is imported here, so that `--help` is fast.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from modelexport_cli import export_arguments, submit_checkpoint
from modelexport_cli.cluster import arguments as cluster_arguments
from modelexport_cli.pipes import surviving_closed_pipes

_EXIT_CODES = """\
exit codes:
  0   success                        15  verification failed
  2   wrong usage                    16  destination cannot be written
  10  manifest is invalid            17  execution provider is not available
  11  source cannot be read          18  out of memory, disk or time
  12  model cannot be loaded         19  too many checkpoints of a batch failed
  13  export failed                  70  unexpected error
  14  artifact breaks its contract   75  temporary failure, run the command again
"""
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
_COMPLETION = """\
examples:
  # In ~/.bashrc
  eval "$(modelexport completion bash)"

  # zsh: into a directory of $fpath
  modelexport completion zsh > ~/.zfunc/_modelexport

  # fish
  modelexport completion fish > ~/.config/fish/completions/modelexport.fish
"""
_WITH_WORKERS = frozenset({"export", "init", "run", "verify", "diagnose"})


def main(arguments: Sequence[str] | None = None, prog: str = "modelexport") -> int:
    """Run the command; return its exit code."""
    with surviving_closed_pipes():
        return _run(parser(prog).parse_args(arguments))


def _run(args: argparse.Namespace) -> int:
    if args.command in _WITH_WORKERS:
        # Before all imports, which take a second: a sign that the command has begun.
        subject = args.manifest if "manifest" in args else args.checkpoint
        print(f"modelexport {_version()}: {args.command} {subject}", file=sys.stderr)
    if "handler" in args:
        return int(args.handler(args))
    if args.command == "run":
        from modelexport_cli.run import run_manifest

        return run_manifest(args.manifest, args.output, args.work_dir, verbose=args.verbose)
    if args.command == "verify":
        from modelexport_cli.verify import verify_manifest

        return verify_manifest(
            args.manifest, args.artifact, args.output, args.work_dir, verbose=args.verbose
        )
    if args.command == "diagnose":
        from modelexport_cli.diagnose import diagnose_manifest

        return diagnose_manifest(
            args.manifest,
            args.output,
            args.skeleton,
            args.timeout,
            args.work_dir,
            verbose=args.verbose,
        )
    if args.command == "inspect":
        from modelexport_cli.inspect_model import inspect_model

        return inspect_model(args.model, args.output, args.endpoint, graph=args.graph)
    from modelexport_cli.render import render_manifest

    return render_manifest(args.manifest, args.image, args.finished)


def kubectl() -> int:
    """Run the command as the plugin of kubectl, which finds it as `kubectl-modelexport`."""
    return main(prog="kubectl modelexport")


def parser(prog: str = "modelexport") -> argparse.ArgumentParser:
    """Return what the command line can be."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Export PyTorch checkpoints to verified ONNX files.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(
        dest="command", required=True, title="commands", metavar="COMMAND"
    )
    _add_export(commands)
    _add_init(commands)
    _add_run(commands)
    _add_verify(commands)
    _add_diagnose(commands)
    _add_inspect(commands)
    _add_render(commands)
    submit = cluster_arguments.add_commands(commands, _add_command, prog)
    submit_checkpoint.let_submit_take_checkpoints(submit, prog)
    _add_completion(commands)
    return parser


def _add_export(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    export = _add_command(
        commands,
        "export",
        "export and verify a checkpoint, without a manifest",
        "Find out what the model takes, show it, then export, verify and publish on this\n"
        "machine. Inputs, dims and ranges that are not stated are found by running the model.",
        export_arguments.EXPORT,
    )
    export_arguments.add_export_options(export)
    _add_work_dir(export)
    _add_verbose(export)


def _add_init(commands: Any) -> None:  # noqa: ANN401
    init = _add_command(
        commands,
        "init",
        "write the manifest of a checkpoint",
        "Find out what the model takes, and write a manifest in which every value that was\n"
        "found, not stated, is marked.",
        export_arguments.INIT,
    )
    export_arguments.add_init_options(init)
    _add_work_dir(init)
    _add_verbose(init)


def _add_run(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    run = _add_command(
        commands,
        "run",
        "export a checkpoint, verify the result and publish it",
        "Export, verify and publish on this machine what a ModelExport describes. No\n"
        "cluster is needed. URIs that begin with file://./ are relative to the manifest.\n"
        "For S3 the usual AWS environment variables and configuration files are used.",
        _RUN,
    )
    _add_manifest(run)
    _add_output(run, "the status that the ModelExport would get")
    _add_work_dir(run)
    _add_verbose(run)


def _add_verify(commands: Any) -> None:  # noqa: ANN401
    verify = _add_command(
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
    _add_output(verify, "the status that the ModelExport would get")
    _add_work_dir(verify)
    _add_verbose(verify)


def _add_diagnose(commands: Any) -> None:  # noqa: ANN401
    diagnose = _add_command(
        commands,
        "diagnose",
        "find what would make an export fail, without exporting",
        "Load the model and list operators that cannot be translated, lines of code that\n"
        "change their meaning in a graph, and dims that would become constants. The exit\n"
        "code is 0 if no problem was found.",
        _DIAGNOSE,
    )
    _add_manifest(diagnose)
    _add_output(diagnose, "the diagnosis")
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
    _add_work_dir(diagnose)
    _add_verbose(diagnose)


def _add_inspect(commands: Any) -> None:  # noqa: ANN401
    inspect = _add_command(
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
    _add_output(inspect, "the content")


def _add_render(commands: Any) -> None:  # noqa: ANN401
    render = _add_command(
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


def _add_completion(commands: Any) -> None:  # noqa: ANN401
    completion = _add_command(
        commands,
        "completion",
        "print a script by which a shell completes commands",
        "Print the script by which a shell completes commands, options and files.",
        _COMPLETION,
    )
    completion.add_argument(
        "shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish"
    )
    completion.set_defaults(handler=_complete)


def _complete(args: argparse.Namespace) -> int:
    from modelexport_cli.completion import print_completion

    return print_completion(parser(), args.shell)


def _add_command(
    commands: Any,  # noqa: ANN401
    name: str,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _add_output(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help=f"output format; json prints only {what} to standard output (default: text)",
    )


def _add_work_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--work-dir",
        type=Path,
        metavar="DIR",
        help="directory for downloads and unfinished files (default: a temporary directory)",
    )


def _add_verbose(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show every message, and what the model's code and torch print",
    )


def _add_manifest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="YAML file of the resource")


def _version() -> str:
    return importlib.metadata.version("modelexport")


class _Version(argparse.Action):
    """Reads the version only when `--version` is given."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"modelexport {_version()}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
