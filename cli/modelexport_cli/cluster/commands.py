"""The commands on a cluster: their errors as sentences, and their exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.util import find_spec

from modelexport_api.reasons import ExitCode
from modelexport_cli.cluster.errors import INTERRUPTED, USAGE, ClusterError
from modelexport_cli.cluster.invocation import Invocation
from modelexport_cli.cluster.kubeconfig import Selection

_PACKAGES = ("kubernetes", "rich")


def run_command(args: argparse.Namespace, prog: str) -> int:
    """Run a command on a cluster; return its exit code."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        print(
            f"{prog} {args.command} needs Python packages that are not installed: "
            f"{', '.join(missing)}\nInstall them: pip install 'modelexport[cluster]'",
            file=sys.stderr,
        )
        return USAGE
    selection = Selection(args.kubeconfig, args.context, args.namespace)
    try:
        return _function(args.command)(args, Invocation(prog, selection))
    except ClusterError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return int(ExitCode.DONE)


def _function(command: str) -> Callable[[argparse.Namespace, Invocation], int]:
    """Return the function of a command; its module is imported only now."""
    if command == "submit":
        from modelexport_cli.cluster.submit import submit

        return submit
    if command == "logs":
        from modelexport_cli.cluster.logs import logs

        return logs
    if command == "report":
        from modelexport_cli.cluster.report import report

        return report
    if command == "cancel":
        from modelexport_cli.cluster.submit import cancel

        return cancel
    from modelexport_cli.cluster.retry import retry

    return retry
