"""An export in a cluster, from Python: submit it, wait for its end, cancel it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport_api.reasons import ExitCode
from modelexport_api.status import ModelExportStatus
from modelexport_cli.cluster import manifest
from modelexport_cli.cluster.connection import connect
from modelexport_cli.cluster.errors import ClusterError, ExportFailedError
from modelexport_cli.cluster.export import Export, observe
from modelexport_cli.cluster.follow import follow
from modelexport_cli.cluster.kubeconfig import Selection
from modelexport_cli.cluster.manifest import Manifest
from modelexport_cli.log import open_log

if TYPE_CHECKING:
    from modelexport_cli.cluster.client import Cluster

_TEMPORARY = int(ExitCode.RETRYABLE)
_TRIES = 3


class Submission:
    """A ModelExport in a cluster."""

    def __init__(self, cluster: Cluster, export: Export, *, created: bool) -> None:
        self._cluster = cluster
        self.export = export
        """What was read last."""
        self.created = created
        """False if it existed, with the same spec."""

    def __repr__(self) -> str:
        return f"<Submission {self.name} in namespace {self.namespace}: {self.export.state}>"

    @property
    def name(self) -> str:
        """Return the name of the ModelExport."""
        return self.export.name

    @property
    def namespace(self) -> str:
        """Return the namespace of the ModelExport."""
        return self.export.namespace

    def status(self) -> ModelExportStatus:
        """Read the status. Raises ClusterError."""
        self.export = observe(self._cluster.get_export(self.name))
        return self.export.status

    def wait(self, timeout: float | None = None, *, progress: bool = True) -> ModelExportStatus:
        """Wait for the end, and show the progress on stderr; return the status of a success.

        Raises ExportFailedError if the export failed, TimeoutError after `timeout` seconds, and
        ClusterError if it was cancelled or deleted. The export goes on when waiting ends.
        """
        self.export = wait_for_end(self._cluster, self.export, timeout=timeout, show=progress)
        failure = self.export.failure
        if failure is not None:
            raise ExportFailedError(self.name, failure, self.export.status, self.export.exit_code)
        return self.export.status

    def cancel(self) -> None:
        """Stop the work and keep the ModelExport (spec.suspend). Raises ClusterError."""
        self.export = observe(self._cluster.patch_export(self.name, {"spec": {"suspend": True}}))


def submit(
    source: str | Path | Mapping[str, Any],
    *,
    namespace: str | None = None,
    context: str | None = None,
    kubeconfig: str | Path | None = None,
) -> Submission:
    """Create the ModelExport of a manifest: a path, YAML text or a mapping.

    Cluster and namespace are those that kubectl would use. One that exists with the same spec is
    returned. Raises ClusterError.
    """
    wanted = manifest.read_manifest(source, namespace)
    path = Path(kubeconfig) if kubeconfig is not None else None
    cluster = connect(Selection(path, context, namespace or wanted.namespace))
    return submit_to(cluster, wanted)


def submit_to(cluster: Cluster, wanted: Manifest) -> Submission:
    """Create a ModelExport, or return the one that exists with its spec. Raises ClusterError."""
    for _ in range(_TRIES):
        try:
            made = observe(cluster.create_export(dict(wanted.body)))
        except ClusterError as error:
            if error.reason != "AlreadyExists":
                raise
        else:
            return Submission(cluster, made, created=True)
        if "name" not in wanted.body["metadata"]:
            continue  # a generated name was taken
        try:
            existing = observe(cluster.get_export(wanted.label))
        except ClusterError as error:
            if error.reason != "NotFound":
                raise
            continue  # it was deleted meanwhile
        check_same(wanted, existing)
        return Submission(cluster, existing, created=False)
    raise ClusterError(
        f"{wanted.label} is created and deleted by somebody else at the same time",
        exit_code=_TEMPORARY,
    )


def check_same(wanted: Manifest, existing: Export) -> None:
    """Raise ClusterError unless the ModelExport that exists is the wanted one."""
    where = f"{existing.name} exists in namespace {existing.namespace}"
    if existing.deleting:
        raise ClusterError(
            f"{where} and is being deleted",
            f"Submit it again once `kubectl wait --for=delete modelexport/{existing.name} "
            f"-n {existing.namespace}` returns.",
            exit_code=_TEMPORARY,
        )
    found = manifest.differences(wanted.body["spec"], existing.spec)
    if found:
        listed = "\n".join(f"  {line}" for line in found)
        raise ClusterError(
            f"{where} with another spec, and a spec is immutable:\n{listed}",
            f"Choose another metadata.name, or delete the one that exists: `kubectl delete "
            f"modelexport {existing.name} -n {existing.namespace}`. Published files are kept.",
            exit_code=int(ExitCode.MANIFEST),
            reason="AlreadyExists",
        )


def wait_for_end(
    cluster: Cluster,
    export: Export,
    *,
    timeout: float | None = None,
    show: bool = True,
    resume: str = "Set spec.suspend to false to resume it.",
) -> Export:
    """Return the export once it has ended. Raises ClusterError if it was cancelled, TimeoutError.

    `resume`: the hint for an export that is cancelled.
    """
    if export.end is None:
        export = _follow(cluster, export, timeout, show=show)
    if export.end is None:
        raise ClusterError(
            f"{export.name} is cancelled (spec.suspend is true): nothing runs",
            resume,
            exit_code=_TEMPORARY,
            reason="Suspended",
        )
    return export


def _follow(cluster: Cluster, export: Export, timeout: float | None, *, show: bool) -> Export:
    if not show:
        return follow(cluster, export, _Silence(), timeout=timeout)
    on_board = sys.stderr.isatty()
    with open_log(sys.stderr, export.stages) as log:
        try:
            return follow(cluster, export, log, timeout=timeout, on_board=on_board)
        except (KeyboardInterrupt, TimeoutError):
            log.leave()
            raise


class _Silence:
    """A log that shows nothing."""

    def log(self, level: object, message: str, **fields: object) -> None:
        """Drop a message."""

    def progress(self, progress: object, **fields: object) -> None:
        """Drop a step."""

    def complete(self) -> None:
        """Show nothing."""
