"""The worker pool of a single export: the verifier gets ready while the exporter works.

Its processes import what they need while that of the exporter does, and load the module when that
one has: two factories that run at once could meet in a cache on disk.
Guarantees that an export fails as it would without: a verifier that fails to get ready is replaced
by one that begins anew, and none is started where the memory may be short.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from modelexport_api.status import Stage
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.machine import free_memory
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.isolation import worker
from modelexport_exporter.pipeline.verifier import Roles, Verifier, roles_of

T = TypeVar("T")
ROOM_BYTES = 1 << 30
WEIGHT_COPIES = 2
"""Free memory with which a second process may hold the model: so much and such copies of the
checkpoint."""
_LOADED = frozenset({Stage.CAPTURE, Stage.CONVERT})
"""Stages of the exporter in which it has loaded the module."""


class OverlappedWorkers:
    """Runs entries in fresh processes; those that verify start early."""

    def __init__(
        self,
        export_entry: str = entry_points.EXPORT,
        verify_entry: str = entry_points.VERIFY,
        roles: Roles | None = None,
        free: Callable[[], int] = free_memory,
    ) -> None:
        """Use these entries; another one than the usual verifies in one process without `roles`.

        `free`: bytes of free memory.
        """
        self._export_entry, self._verify_entry = export_entry, verify_entry
        self._roles = roles or roles_of(verify_entry)
        self._free = free
        self._verifier: Verifier | None = None
        self._prepares = False

    def __call__(
        self,
        entry: str,
        arguments: tuple[Any, ...],
        expected: type[T],
        **how: Any,  # noqa: ANN401
    ) -> T:
        """Return what the entry's function returned. Raises ExportFailure."""
        if entry == self._export_entry:
            return self._export(arguments, expected, how)
        if entry == self._verify_entry and self._roles is not None:
            return self._verify(arguments, expected, how, self._roles)
        return worker.run(entry, arguments, expected, **how)

    def close(self) -> None:
        """End the verifier."""
        if self._verifier is not None:
            self._verifier.close()
            self._verifier = None
        self._prepares = False

    def _export(self, arguments: tuple[ExportTask], expected: type[T], how: dict[str, Any]) -> T:
        report: ReportProgress = how["on_progress"]
        (task,) = arguments

        def on_progress(stage: Stage, fraction: float, message: str) -> None:
            if stage in _LOADED:
                self._prepare(task)
            report(stage, fraction, message)

        how = {**how, "on_progress": on_progress}
        if self._roles is not None and self._verifier is None and self._free() > ROOM_BYTES:
            self._verifier = Verifier(task.spec, self._roles)
        return worker.run(self._export_entry, arguments, expected, **how)

    def _prepare(self, task: ExportTask) -> None:
        if not self._prepares and self._verifier is not None and self._has_room(task):
            self._prepares = True
            self._verifier.prepare(task)

    def _has_room(self, task: ExportTask) -> bool:
        return self._free() > ROOM_BYTES + WEIGHT_COPIES * _bytes_of(task.checkpoint)

    def _verify(
        self,
        arguments: tuple[ExportTask, ConvertedModel],
        expected: type[T],
        how: dict[str, Any],
        roles: Roles,
    ) -> T:
        try:
            if self._verifier is not None and not self._verifier.is_ready(how):
                self.close()
            if self._verifier is None:
                self._verifier = Verifier(arguments[0].spec, roles)
            return self._verifier.verify(arguments, expected, how)
        finally:
            self.close()


def _bytes_of(checkpoint: Path) -> int:
    files = checkpoint.rglob("*") if checkpoint.is_dir() else (checkpoint,)
    return sum(path.stat().st_size for path in files if path.is_file())
