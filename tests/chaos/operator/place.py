"""A control plane with the CRDs and the operator's permissions, and namespaces for rounds."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bed.control_plane import ControlPlane
from cluster.operator.forked import Forker
from cluster.operator.replica import Operators, prepare


@dataclass
class Place:
    """Where rounds happen, one after the other."""

    plane: ControlPlane
    kubeconfig: Path
    forker: Forker

    @classmethod
    @contextmanager
    def on(cls, plane: ControlPlane) -> Iterator[Place]:
        """Prepare a control plane, also one that was prepared before."""
        kubeconfig = prepare(plane)
        with closing(Forker.start(plane.run.log_of("chaos-forker"))) as forker:
            yield cls(plane, kubeconfig, forker)

    @contextmanager
    def operators(self) -> Iterator[Operators]:
        """Yield operators of a namespace of their own; both end with the block."""
        namespace = f"chaos-{secrets.token_hex(4)}"
        self.plane.create_namespace(namespace)
        try:
            yield Operators(self.plane, namespace, self.kubeconfig, self.forker)
        finally:
            replicas = [one for one in self.plane.run.children if one.name.startswith(namespace)]
            for child in replicas:
                with contextlib.suppress(ProcessLookupError):
                    child.stop()
                self.plane.run.children.remove(child)
            self.plane.delete_namespace(namespace, wait=False)
