"""How the user called the command, so that hints can be pasted into the same terminal. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from modelexport_cli.cluster.kubeconfig import Selection


@dataclass(frozen=True)
class Invocation:
    """The name of the program, and the flags that choose the cluster."""

    prog: str
    selection: Selection

    def within(self, namespace: str) -> Invocation:
        """Return the same call for another namespace."""
        return replace(self, selection=replace(self.selection, namespace=namespace))

    def command(self, *words: str) -> str:
        """Return a command of this program for the same cluster."""
        return shlex.join([*self.prog.split(), *words, *self._flags()])

    def kubectl(self, *words: str) -> str:
        """Return a command of kubectl for the same cluster."""
        return shlex.join(["kubectl", *words, *self._flags()])

    def _flags(self) -> Sequence[str]:
        chosen = {
            "-n": self.selection.namespace,
            "--context": self.selection.context,
            "--kubeconfig": self.selection.kubeconfig,
        }
        return [word for flag, value in chosen.items() if value for word in (flag, str(value))]
