"""A control plane with the CRDs and the operator's permissions, and namespaces for rounds."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bed.control_plane import ControlPlane
from chaos.operator.proxy import ApiProxy
from chaos.operator.wall_clock import WallClock
from cluster.operator.forked import Forker
from cluster.operator.replica import USER, Operators, prepare


@dataclass
class Place:
    """Where rounds happen, one after the other."""

    plane: ControlPlane
    kubeconfig: Path
    forker: Forker
    proxy: ApiProxy
    clock: WallClock | None
    """None without a C compiler."""

    @classmethod
    @contextmanager
    def on(cls, plane: ControlPlane) -> Iterator[Place]:
        """Prepare a control plane, also one that was prepared before."""
        kubeconfig = prepare(plane)
        clock = WallClock.build(plane.run.directory)
        log = plane.run.log_of("chaos-forker")
        environment = clock.environment if clock is not None else {}
        with (
            closing(Forker.start(log, environment)) as forker,
            closing(ApiProxy(plane, USER)) as proxy,
        ):
            proxy.start()
            yield cls(plane, kubeconfig, forker, proxy, clock)

    @contextmanager
    def operators(self, *, proxied: bool = False) -> Iterator[Operators]:
        """Yield operators of a namespace of their own; both end with the block."""
        namespace = f"chaos-{secrets.token_hex(4)}"
        self.plane.create_namespace(namespace)
        kubeconfig = self.proxy.kubeconfig if proxied else self.kubeconfig
        try:
            yield Operators(self.plane, namespace, kubeconfig, self.forker)
        finally:
            if self.clock is not None:
                self.clock.set(0)
            replicas = [one for one in self.plane.run.children if one.name.startswith(namespace)]
            for child in replicas:
                with contextlib.suppress(ProcessLookupError):
                    child.stop()
                self.plane.run.children.remove(child)
            self.plane.delete_namespace(namespace, wait=False)
