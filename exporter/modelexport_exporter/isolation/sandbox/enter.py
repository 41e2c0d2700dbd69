"""Applies a sandbox to the process that calls it, and asks this machine what a sandbox needs."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from modelexport_api import claims
from modelexport_api.isolation import Network
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core import closed_network, place
from modelexport_exporter.core.secret_places import secret_places, without_links
from modelexport_exporter.isolation.sandbox import landlock, limits, linux, places, seccomp
from modelexport_exporter.isolation.sandbox.policy import (
    Kernel,
    Sandbox,
    check,
    network_of,
    unavailable,
)

_TEMPORARY, _OUTPUTS = "tmp", "out"
"""Directories below the workspace that workers may write."""


def ask_kernel() -> Kernel:
    """Return what this machine's kernel offers."""
    if sys.platform != "linux" or seccomp.this_machine() is None:
        return Kernel(0, seccomp=False)
    return Kernel(landlock.kernel_abi(), seccomp.available())


def sandbox_for(spec: ModelExportSpec, workspace: Path, readable: Sequence[Path] = ()) -> Sandbox:
    """Return the sandbox of a run's workers; the caller stays outside.

    `readable`: of another run of this process.
    Raises ExportFailure if isolation is required and this machine cannot.
    """
    in_pod, home = place.in_pod(), Path.home()
    caches = places.caches(os.environ, home)
    for cache in caches:
        if cache.parent != home:  # a folder of its own there is the library's to make
            with contextlib.suppress(OSError):
                cache.mkdir(parents=True, exist_ok=True)
    own = workspace.resolve()
    for name in (_TEMPORARY, _OUTPUTS):
        (own / name).mkdir(exist_ok=True)
    # Other people's files lie in a claim, too; what a run needs of it is copied.
    volumes = [Path(claims.mounted_at(name, os.environ)) for name in claims.claims_of(spec)]
    hidden = frozenset({*secret_places(), *without_links([*volumes, workspace])})
    sandbox = Sandbox(
        kernel=ask_kernel(),
        network=network_of(spec, in_pod=in_pod),
        workspace=own,
        outputs=own / _OUTPUTS,
        temporary=own / _TEMPORARY,
        caches=caches,
        hidden=hidden,
        readable=tuple(path.resolve() for path in readable),
        limits=limits.limits_for(
            shutil.disk_usage(workspace).free, limits.tasks_of_this_user(), in_pod=in_pod
        ),
    )
    check(spec.isolation, sandbox.in_force)
    return sandbox


def enter(sandbox: Sandbox) -> None:
    """Limit this process, which has one thread, and all that it starts. Raises ExportFailure."""
    _use_temporary(sandbox.temporary)
    limits.apply(sandbox.limits)
    kernel, network = sandbox.kernel, sandbox.network is Network.OPEN
    machine = seccomp.this_machine()
    try:
        if kernel.landlock_abi or kernel.seccomp:
            linux.set_no_new_privileges()
        if kernel.landlock_abi:
            outputs = (sandbox.outputs,) if sandbox.writes_outputs else ()
            own = (*outputs, sandbox.workspace / _TEMPORARY, *sandbox.caches)
            readable = (sandbox.workspace, *sandbox.readable)
            granted = places.grants(sandbox.hidden, own, readable, _children)
            landlock.restrict(granted, kernel.landlock_abi, network=network)
        if kernel.seccomp and machine is not None:
            if not network:
                closed_network.note_closed()
            seccomp.install(machine, seccomp.program(machine, network=network))
    except OSError as error:
        raise unavailable(f"the kernel offers it but refuses: {error}") from error


def _use_temporary(directory: Path) -> None:
    """Let this process and its children write temporary files to a directory."""
    os.environ["TMPDIR"] = str(directory)
    tempfile.tempdir = None
    # torch writes its default there when it is imported, which was outside of the sandbox.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(directory / "torchinductor")
    # multiprocessing takes over that of the process that started this one, and offers no other way.
    vars(multiprocessing.current_process())["_config"].pop("tempdir", None)


def _children(directory: Path) -> Iterator[Path]:
    """Yield the entries that are no links: what these lead to has a path of its own."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        yield from (Path(entry.path) for entry in entries if not entry.is_symlink())
