"""`modelexport logs`: the log of the right pod, or what the status holds once it is gone."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from modelexport_api.pod import CONTAINER
from modelexport_api.reasons import ExitCode
from modelexport_cli.cluster import log_text, pods
from modelexport_cli.cluster.connection import connect
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.export import Export
from modelexport_cli.cluster.invocation import Invocation
from modelexport_cli.cluster.lookup import find
from modelexport_cli.cluster.pods import Pod

if TYPE_CHECKING:
    from modelexport_cli.cluster.client import Cluster

_PAUSE = 1.0


def logs(args: argparse.Namespace, called: Invocation) -> int:
    """Print the log."""
    cluster = connect(called.selection)
    reader = LogReader(cluster, args.name, args.index, args.tail, as_text=args.output == "text")
    if args.follow:
        reader.follow()
    elif not reader.print_latest():
        return _print_status(find(cluster, args.name), called)
    return int(ExitCode.DONE)


class LogReader:
    """Prints the logs of the pods of one export."""

    def __init__(
        self, cluster: Cluster, name: str, index: int | None, tail: int | None, *, as_text: bool
    ) -> None:
        self._cluster = cluster
        self._name = name
        self._index = index
        self._tail = tail
        self._show: Callable[[str], str] = log_text.readable if as_text else str
        self._waiting = ""

    def print_latest(self) -> bool:
        """Print the log of the latest pod that has one; return whether there is one."""
        export = find(self._cluster, self._name)
        pod = self._choose(export, only_started=True)
        if pod is not None:
            self._print(pod, follow=False)
            return True
        latest = self._choose(export)
        if latest is not None and not latest.ended:
            self._say(f"pod {latest.name} has not started: {latest.waiting or 'it is starting'}")
            return True
        return False

    def follow(self) -> None:
        """Print the log of each pod in turn until the export has ended or is suspended."""
        printed = ""
        while True:
            export = find(self._cluster, self._name)
            pod = self._choose(export)
            if pod is not None and pod.started and pod.name != printed:
                self._print(pod, follow=True)
                printed, self._tail = pod.name, None
                continue
            if export.end is not None or export.suspended:
                self._say(f"{export.name} is {export.state}")
                return
            self._say(_what_is_awaited(export, pod, printed))
            time.sleep(_PAUSE)

    def _choose(self, export: Export, *, only_started: bool = False) -> Pod | None:
        found = [
            pods.observe_pod(body) for body in self._cluster.pods(f"{pods.UID_LABEL}={export.uid}")
        ]
        if only_started:
            found = [pod for pod in found if pod.started]
        shares = int(export.spec.get("parallelism") or 1) if export.is_batch else None
        return pods.choose(found, self._index, shares=shares)

    def _print(self, pod: Pod, *, follow: bool) -> None:
        self._say(f"log of pod {pod.name}")
        lines = self._cluster.log_lines(pod.name, CONTAINER, follow=follow, tail=self._tail)
        try:
            for line in lines:
                print(self._show(line), flush=follow)
        except ClusterError as error:
            if error.reason != "NotFound":
                raise
            self._say(f"pod {pod.name} was deleted, and its log with it")

    def _say(self, text: str) -> None:
        """Print a sentence once, apart from the log."""
        if text != self._waiting:
            print(text, file=sys.stderr)
        self._waiting = text


def _what_is_awaited(export: Export, pod: Pod | None, printed: str) -> str:
    if pod is None:
        return f"{export.name} has no pod yet ({export.state}): waiting for one"
    if pod.name == printed:
        return f"the log of pod {pod.name} has ended: waiting for what follows"
    return f"pod {pod.name} has not started: {pod.waiting or 'it is starting'}"


def _print_status(export: Export, called: Invocation) -> int:
    """Print what the status holds in place of a log."""
    if export.end is None:
        print(f"{export.name} has no pod ({export.state}), so there is no log", file=sys.stderr)
        todo = "Resume it: " if export.suspended else "Wait for one: "
        words = ("retry", export.name) if export.suspended else ("logs", export.name, "-f")
        print(f"{todo}{called.command(*words)}", file=sys.stderr)
        return int(ExitCode.DONE)
    print(
        f"the pod of {export.name} is gone, and its log with it; this is what its status holds",
        file=sys.stderr,
    )
    for line in log_text.from_status(export):
        print(line)
    if export.status.report_uri:
        print(
            f"The report has the stages with their messages: "
            f"{called.command('report', export.name, '--open')}",
            file=sys.stderr,
        )
    return int(ExitCode.DONE)
