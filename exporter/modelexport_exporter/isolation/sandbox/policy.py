"""What a run's workers may do, and what of it this kernel enforces: plain values and decisions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from modelexport_api.isolation import Isolation, IsolationInForce, Network
from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.isolation.sandbox import landlock
from modelexport_exporter.isolation.sandbox.limits import Limits


@dataclass(frozen=True)
class Kernel:
    """What the kernel offers to a process without privileges."""

    landlock_abi: int
    """0: it has none."""
    seccomp: bool


@dataclass(frozen=True)
class Sandbox:
    """What the workers of a run may do."""

    kernel: Kernel
    network: Network
    workspace: Path
    """The run's own directory, with its code and its checkpoint: they may read it."""
    outputs: Path
    """A directory in it, which they may write."""
    temporary: Path
    """A path of a directory in it for temporary files."""
    caches: tuple[Path, ...]
    """Of libraries; they may be written, too."""
    hidden: frozenset[Path]
    """What is not readable, without links."""
    limits: Limits
    writes_outputs: bool = True
    """Whether the worker may write them: the process of the original model reads them only."""
    readable: tuple[Path, ...] = ()
    """What is readable although it is hidden: the checkpoint that an earlier run has fetched."""

    @property
    def in_force(self) -> IsolationInForce:
        """Return what the report says of it."""
        return describe(self.kernel, self.network)


def network_of(spec: ModelExportSpec, *, in_pod: bool) -> Network:
    """Return whether the model's code may use the network."""
    if spec.model is not None and spec.model.network is not None:
        return spec.model.network
    return Network.CLOSED if in_pod else Network.OPEN


def describe(kernel: Kernel, network: Network) -> IsolationInForce:
    """Return what a kernel enforces, and what it does not."""
    missing = [*landlock.missing(kernel.landlock_abi)]
    closed = network is Network.CLOSED and kernel.seccomp
    if not kernel.seccomp:
        refused = "system calls" + (" and the network" if network is Network.CLOSED else "")
        missing.append(f"{refused}: the kernel has no seccomp for this machine")
    return IsolationInForce(
        landlock_abi=kernel.landlock_abi or None,
        seccomp=kernel.seccomp,
        network=Network.CLOSED if closed else Network.OPEN,
        missing=missing,
    )


def check(required: Isolation, in_force: IsolationInForce) -> None:
    """Raise ExportFailure if isolation is required and anything of it is missing."""
    if required is Isolation.REQUIRED and in_force.missing:
        raise unavailable("; ".join(in_force.missing))


def unavailable(found: str) -> ExportFailure:
    """Return the failure of a machine that cannot isolate the model's code."""
    return ExportFailure(
        Reason.ISOLATION_UNAVAILABLE,
        f"the model's code did not run, because it cannot be isolated here: {found}",
        "Run it on Linux 6.12 or newer with landlock among the kernel's security modules "
        "(/sys/kernel/security/lsm), or set spec.isolation: Preferred.",
    )
