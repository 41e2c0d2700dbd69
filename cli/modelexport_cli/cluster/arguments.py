"""The subcommands that work on a cluster, and their flags.

Only the standard library is imported here, so that `--help` is fast.
"""

from __future__ import annotations

import argparse
import re
from functools import partial
from pathlib import Path
from typing import Any

from modelexport_cli.command_options import add_command

_SUBMIT = """\
examples:
  # Create the ModelExport in the current namespace
  {prog} submit modelexport.yaml

  # Create it, show its progress, and exit with its exit code: for a CI job
  {prog} submit modelexport.yaml --wait --timeout 30m

  # A checkpoint on S3, without a manifest
  {prog} submit s3://models/net.pt --factory net:build --code s3://models/code.zip --wait
"""
_LOGS = """\
examples:
  # Follow the log of the export, over retries, until the export ends
  {prog} logs digits -f

  # The log of share 3 of a batch
  {prog} logs folds --index 3
"""
_REPORT = """\
examples:
  # Open the report in the browser
  {prog} report digits --open

  # Save it from a store that has another name outside the cluster
  {prog} report digits --save digits.html --endpoint http://localhost:9000
"""
_CANCEL = """\
examples:
  # Stop the work of an export
  {prog} cancel digits
"""
_RETRY = """\
examples:
  # Run a failed export once more and wait for its end
  {prog} retry digits --wait
"""
_UNITS = {"h": 3600, "m": 60, "s": 1}


def add_commands(
    commands: Any,  # noqa: ANN401
    prog: str,
) -> argparse.ArgumentParser:
    """Add the subcommands, and return that of submit; `prog`: the name that the user called."""
    submit = add_command(
        commands,
        "submit",
        "create a ModelExport in a cluster",
        "Create the ModelExport of a manifest in the cluster and namespace that kubectl uses.\n"
        "One that exists with the same spec is up to date. A checkpoint on S3 needs no\n"
        "manifest: what the model takes is found on this machine, as by `export`.",
        _SUBMIT.format(prog=prog),
    )
    submit.add_argument(
        "manifest",
        metavar="MANIFEST",
        help="YAML file; - reads standard input. Or the s3:// URI of a checkpoint",
    )
    _add_wait(submit, "-o")
    logs = add_command(
        commands,
        "logs",
        "print the log of an export in a cluster",
        "Print the log of the latest pod of an export; what the status holds if it is gone.",
        _LOGS.format(prog=prog),
    )
    _add_logs(logs)
    report = add_command(
        commands,
        "report",
        "save or open the report of an export in a cluster",
        "Fetch report.html from the destination of an export, with your own S3 credentials\n"
        "(AWS_PROFILE, AWS_ACCESS_KEY_ID and so on) and the settings in spec.storage.",
        _REPORT.format(prog=prog),
    )
    _add_report(report)
    cancel = add_command(
        commands,
        "cancel",
        "stop an export in a cluster and keep the ModelExport",
        "Stop the work of an export: its pods are deleted, published files are kept. The\n"
        "ModelExport is kept with spec.suspend: true; `retry` resumes it.",
        _CANCEL.format(prog=prog),
    )
    _add_name(cancel)
    retry = add_command(
        commands,
        "retry",
        "run a failed or cancelled export in a cluster once more",
        "Resume an export that was cancelled. One that failed, or a batch of which checkpoints\n"
        "failed, is deleted and created again with the same spec, labels and annotations.",
        _RETRY.format(prog=prog),
    )
    _add_name(retry)
    _add_wait(retry, "-o", "--output")
    for parser in (submit, logs, report, cancel, retry):
        _add_cluster(parser)
        parser.set_defaults(handler=partial(_run, prog=prog))
    return submit


def _run(args: argparse.Namespace, prog: str) -> int:
    from modelexport_cli.cluster.commands import run_command

    return run_command(args, prog)


def seconds(text: str) -> float:
    """Return a duration such as 90, 90s, 10m or 1h30m in seconds."""
    found = re.fullmatch(r"(?:\d+h)?(?:\d+m)?(?:\d+s)?", text) if text else None
    if found is not None:
        return float(sum(int(n) * _UNITS[unit] for n, unit in re.findall(r"(\d+)([hms])", text)))
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(
            f"expected a duration such as 90, 90s, 10m or 1h30m, found {text!r}"
        )
    return value


def _add_wait(parser: argparse.ArgumentParser, *output: str) -> None:
    parser.add_argument(
        "--wait",
        action="store_true",
        help="show the progress and wait for the end; the exit code is that of the export",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="DURATION",
        help="wait no longer than this, such as 30m (exit code 75); the export goes on",
    )
    parser.add_argument(
        *output,
        dest="output_format",
        choices=("text", "json"),
        default="text",
        help="output format; json prints only the status of the ModelExport (default: text)",
    )


def _add_logs(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument(
        "-f", "--follow", action="store_true", help="go on until the export has ended"
    )
    parser.add_argument(
        "--index", type=int, metavar="SHARE", help="share of a batch (spec.parallelism), from 0"
    )
    parser.add_argument("--tail", type=int, metavar="LINES", help="print only the last lines")
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="output format; json prints the lines as the pod wrote them (default: text)",
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--save",
        type=Path,
        metavar="PATH",
        help="file or directory to save it to (default: NAME-report.html); - prints it",
    )
    where.add_argument("--open", action="store_true", help="open it in the browser")
    parser.add_argument(
        "--endpoint", metavar="URL", help="URL of the S3 server, instead of spec.storage.endpoint"
    )


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the ModelExport")


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster", "as for kubectl")
    group.add_argument("-n", "--namespace", help="namespace (default: that of the context)")
    group.add_argument("--context", help="context of the kubeconfig (default: the current one)")
    group.add_argument(
        "--kubeconfig",
        type=Path,
        metavar="PATH",
        help="kubeconfig file (default: those in KUBECONFIG, else ~/.kube/config)",
    )
