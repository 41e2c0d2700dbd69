"""`modelexport submit` and `modelexport cancel`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from modelexport_api.reasons import ExitCode
from modelexport_cli.cluster.connection import connect
from modelexport_cli.cluster.errors import INTERRUPTED, ClusterError
from modelexport_cli.cluster.export import Export
from modelexport_cli.cluster.invocation import Invocation
from modelexport_cli.cluster.lookup import find
from modelexport_cli.cluster.manifest import read_manifest
from modelexport_cli.cluster.submission import Submission, submit_to, wait_for_end
from modelexport_cli.cluster.summary import print_end, print_status

if TYPE_CHECKING:
    from modelexport_cli.cluster.client import Cluster


def submit(args: argparse.Namespace, called: Invocation) -> int:
    """Create the ModelExport, and wait for its end if that is requested."""
    selection = called.selection
    wanted = read_manifest(args.manifest, selection.namespace)
    cluster = connect(selection)
    if wanted.namespace:
        cluster, called = cluster.within(wanted.namespace), called.within(wanted.namespace)
    submission = submit_to(cluster, wanted)
    print(_submitted(submission, cluster), file=sys.stderr)
    if args.wait:
        return wait(cluster, submission.export, args, called)
    if args.output_format == "json":
        print_status(submission.export)
        return int(ExitCode.DONE)
    print(next_steps(submission.export, called), file=sys.stderr)
    return int(ExitCode.DONE)


def cancel(args: argparse.Namespace, called: Invocation) -> int:
    """Stop the work of an export and keep the ModelExport."""
    cluster = connect(called.selection)
    export = find(cluster, args.name)
    if export.end is not None:
        print(f"{export.name} has ended ({export.state}): there is nothing to cancel")
        return int(ExitCode.DONE)
    if export.suspended:
        print(f"{export.name} is cancelled already")
    else:
        Submission(cluster, export, created=False).cancel()
        print(f"{export.name} is cancelled: its pods stop and remove what they had staged")
    print(
        f"Resume it: {called.command('retry', export.name)}\n"
        f"Delete it: {called.kubectl('delete', 'modelexport', export.name)}",
        file=sys.stderr,
    )
    return int(ExitCode.DONE)


def wait(cluster: Cluster, export: Export, args: argparse.Namespace, called: Invocation) -> int:
    """Show the export until its end, print its summary, and return its exit code."""
    resume = f"Resume it: {called.command('retry', export.name)}"
    try:
        export = wait_for_end(cluster, export, timeout=args.timeout, resume=resume)
    except KeyboardInterrupt:
        print(_goes_on(export, called), file=sys.stderr)
        return INTERRUPTED
    except (TimeoutError, ClusterError) as error:
        if args.output_format == "json":
            print_status(find(cluster, export.name))
        if isinstance(error, ClusterError):
            raise
        print(f"{error}. {_goes_on(export, called)}", file=sys.stderr)
        return int(ExitCode.RETRYABLE)
    print_end(export, args.output_format)
    return export.exit_code


def next_steps(export: Export, called: Invocation) -> str:
    """Return how to go on with an export that is not waited for."""
    if export.failure is not None:
        return f"Run it once more: {called.command('retry', export.name)}"
    if export.end is not None:
        return f"Open its report: {called.command('report', export.name, '--open')}"
    if export.suspended:
        return f"It is cancelled. Resume it: {called.command('retry', export.name)}"
    return f"Follow its log: {called.command('logs', export.name, '-f')}"


def _submitted(submission: Submission, cluster: Cluster) -> str:
    export = submission.export
    where = f"in namespace {export.namespace} of {cluster.access}"
    if submission.created:
        return f"modelexport/{export.name} created {where}"
    if export.failure is not None:
        return f"modelexport/{export.name} exists {where} with the same spec: {export.state}"
    return f"modelexport/{export.name} is up to date: it exists {where} ({export.state})"


def _goes_on(export: Export, called: Invocation) -> str:
    return (
        f"The export goes on in the cluster.\n"
        f"Cancel it: {called.command('cancel', export.name)}\n"
        f"Follow its log: {called.command('logs', export.name, '-f')}"
    )
