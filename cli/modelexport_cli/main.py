"""The command line: which subcommands there are, and what they take.

Only the standard library is imported here, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_EPILOG = """\
exit codes: 0 done; 10 manifest, 11 source, 12 model, 13 export, 14 contract, 15 verification,
16 destination, 17 provider, 18 memory or disk, 19 too many of a batch, 70 defect, 75 try again;
2 wrong usage
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    chosen = _parser().parse_args(arguments)
    if chosen.command == "run":
        from modelexport_cli.run import run_manifest

        return run_manifest(chosen.manifest, chosen.output, chosen.work_dir)
    if chosen.command == "verify":
        from modelexport_cli.verify import verify_manifest

        return verify_manifest(chosen.manifest, chosen.artifact, chosen.output, chosen.work_dir)
    if chosen.command == "diagnose":
        from modelexport_cli.diagnose import diagnose_manifest

        return diagnose_manifest(
            chosen.manifest, chosen.output, chosen.skeleton, chosen.timeout, chosen.work_dir
        )
    if chosen.command == "inspect":
        from modelexport_cli.inspect_model import inspect_model

        return inspect_model(chosen.model, chosen.output, chosen.endpoint, graph=chosen.graph)
    from modelexport_cli.render import render_manifest

    return render_manifest(chosen.manifest, chosen.image, chosen.finished)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="modelexport",
        description="Verified ONNX exports of PyTorch checkpoints.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="export, verify and publish on this machine, without a cluster",
        description="Do on this machine what the pod of a ModelExport does. A uri file://./path "
        "is taken relative to the manifest. S3 is reached with the usual AWS settings.",
    )
    _add_manifest(run)
    _add_output(run, "the status that the resource would get")
    _add_work_dir(run)
    _add_verify(commands)
    _add_diagnose(commands)
    _add_inspect(commands)
    _add_render(commands)
    return parser


def _add_render(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    render = commands.add_parser(
        "render",
        help="print the Job, or the ModelExport of a trigger, that the operator would create",
        description="Print, as YAML, what the operator would create with its defaults: the Job of "
        "a ModelExport, or the ModelExport that a trigger creates for a finished object.",
    )
    _add_manifest(render)
    render.add_argument(
        "--image", default="modelexport-exporter", help="the operator's exporter image"
    )
    render.add_argument(
        "--for",
        dest="finished",
        type=Path,
        metavar="OBJECT",
        help="for a trigger: YAML of the finished object, as from `kubectl get job NAME -o yaml`; "
        "- is standard input",
    )


def _add_verify(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    verify = commands.add_parser(
        "verify",
        help="check an artifact that exists against its checkpoint, without exporting",
        description="Run an ONNX file against eager PyTorch on the manifest's checkpoint: on "
        "another onnxruntime, on another GPU, or by another exporter. Publishes only a report, "
        "below verifications/ at the destination.",
    )
    _add_manifest(verify)
    verify.add_argument(
        "--artifact",
        metavar="URI",
        help="path, file:// or s3:// URI of the ONNX file (default: the manifest's spec.artifact, "
        "or what is published at its destination)",
    )
    _add_output(verify, "the status that the resource would get")
    _add_work_dir(verify)


def _add_diagnose(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    diagnose = commands.add_parser(
        "diagnose",
        help="say what would hinder an export, without exporting",
        description="Load the model and look at it: operators without a translation, lines that "
        "mean something else in a graph, dims that would specialise. Exit code 0: nothing hinders.",
    )
    _add_manifest(diagnose)
    _add_output(diagnose, "the diagnosis")
    diagnose.add_argument(
        "--skeleton",
        type=Path,
        metavar="DIR",
        help="write a plugin to fill in for each operator without a translation",
    )
    diagnose.add_argument(
        "--timeout", type=float, default=300.0, metavar="SECONDS", help="default: 300"
    )
    _add_work_dir(diagnose)


def _add_inspect(commands: Any) -> None:  # noqa: ANN401
    inspect = commands.add_parser(
        "inspect",
        help="print what an ONNX file holds",
        description="Print the checker's answer, opsets, inputs, outputs, weights and operators of "
        "an ONNX file. Exit code 0: the file is valid.",
    )
    inspect.add_argument("model", metavar="MODEL", help="path, file:// or s3:// URI of the file")
    inspect.add_argument("--graph", action="store_true", help="print the graph, too")
    inspect.add_argument("--endpoint", metavar="URL", help="S3-compatible server")
    _add_output(inspect, "what was found")


def _add_output(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help=f"json: print {what}, and nothing else, to stdout",
    )


def _add_work_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--work-dir",
        type=Path,
        help="directory for the download and the files in the making (default: a temporary one)",
    )


def _add_manifest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="YAML of a ModelExport")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"modelexport {importlib.metadata.version('modelexport')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
