"""The worker pool of a batch: resident workers, kept while they are useful.

Guarantees that a fresh export has fresh processes, so that it fails only for its own reasons; that
nothing made by a graph is published unless the graph's first file was verified; and that the death
of a worker costs one attempt of one checkpoint and nothing else.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from modelexport_api.spec import Exporter
from modelexport_exporter.batch.graph_reuse import Reuse
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.types import ROUTES, ConvertedModel, ExportTask, Rung
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.resident import Resident
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.verifier import Roles, Verifier, roles_of

T = TypeVar("T")


@dataclass(frozen=True)
class Graph:
    """A translated graph: the worker that keeps it, and the first file made by it."""

    exporter: Resident
    rung: Rung
    nodes: dict[str, int]
    """The nodes of the first file by operator."""

    def task_of(self, task: ExportTask, converted: ConvertedModel) -> ExportTask:
        """Return the verification task of a file that was made by this graph.

        The optimizer depends on the weights: a file with other nodes than the first one is
        verified at all sizes again.
        """
        return replace(task, rung=self.rung, proven_graph=converted.op_counts == self.nodes)


class ResidentWorkerPool:
    """Runs entries in workers that are kept for the next checkpoint.

    One thread may rebind while another does all the rest.
    """

    def __init__(
        self,
        settings: Settings,
        exporter: str = entry_points.RESIDENT_EXPORTER,
        roles: Roles | None = None,
    ) -> None:
        self._export_entry, self._verify_entry = settings.export_entry, settings.verify_entry
        self._exporter_entry = exporter
        self._roles = roles or roles_of(settings.verify_entry)
        self._graph: Graph | None = None
        self._in_use: Graph | None = None
        self._candidate: Graph | None = None
        """Of a fresh export that is not verified yet."""
        self._verifier: Verifier | None = None
        self._reuse = Reuse()
        self._using = threading.Lock()
        """Held while a graph's worker is called, and to close one."""
        self.on_graph: Callable[[], None] = lambda: None
        """Called when there is a new graph."""

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
        if entry == entry_points.REBIND:
            assert self._in_use is not None
            return self._in_use.exporter.call("rebind", arguments, expected, **how)
        return worker.run(entry, arguments, expected, **how)

    def _export(self, arguments: tuple[ExportTask], expected: type[T], how: dict[str, Any]) -> T:
        self.reject()
        (task,) = arguments
        if ROUTES[task.rung] is not Exporter.DYNAMO or not self._reuse.should_adopt:
            return worker.run(self._export_entry, arguments, expected, **how)
        exporter = Resident(self._exporter_entry)
        try:
            converted = exporter.call("export", arguments, expected, **how)
            assert isinstance(converted, ConvertedModel)
        except BaseException:
            exporter.close()
            raise
        self._candidate = Graph(exporter, task.rung, converted.op_counts)
        self.on_graph()
        return converted

    def _verify(
        self,
        arguments: tuple[ExportTask, ConvertedModel],
        expected: type[T],
        how: dict[str, Any],
        roles: Roles,
    ) -> T:
        if not arguments[0].proven_graph:
            self._end_verifier()
        if self._verifier is None or not self._verifier.is_usable():
            self._end_verifier()
            self._verifier = Verifier(arguments[0].spec, roles)
        return self._verifier.verify(arguments, expected, how)

    @contextlib.contextmanager
    def graph(self) -> Iterator[Graph | None]:
        """Yield the graph to try the next checkpoint with, if there is one.

        It is not closed while the block runs. Its first file may still be in verification:
        `is_confirmed` returns whether that succeeded.
        """
        with self._using:
            if self._graph is not None and not self._graph.exporter.alive:
                self._graph, self._reuse = None, self._reuse.record_loss()
            kept = self._graph if self._reuse.should_rebind else None
            self._in_use = self._candidate if self._reuse.should_adopt and self._candidate else kept
            yield self._in_use

    def is_confirmed(self, graph: Graph) -> bool:
        """Return whether a graph's first file was verified and the graph is kept."""
        return graph is self._graph

    def is_usable(self, graph: Graph) -> bool:
        """Return whether a graph is kept or still being verified."""
        return self.is_confirmed(graph) or graph is self._candidate

    def record_hit(self) -> None:
        """Record that a file made by the graph was verified."""
        self._reuse = self._reuse.record_hit()

    def record_miss(self) -> None:
        """Record that the graph did not lead to a verified file."""
        self._reuse = self._reuse.record_miss()

    def confirm(self) -> None:
        """Keep the graph of a fresh export whose file was verified, if it is useful."""
        if self._candidate is None or not self._reuse.should_adopt:
            self.reject()
            return
        with self._using:
            if self._graph is not None:
                self._graph.exporter.close()
            self._graph, self._candidate = self._candidate, None
            self._reuse = self._reuse.record_adoption()

    def reject(self) -> None:
        """Close the graph of a fresh export whose file is not published."""
        if self._candidate is not None:
            with self._using:
                self._candidate.exporter.close()
                self._candidate = None

    def close(self) -> None:
        """End all workers."""
        for graph in filter(None, (self._graph, self._candidate)):
            graph.exporter.close()
        self._graph = self._candidate = None
        self._end_verifier()

    def _end_verifier(self) -> None:
        if self._verifier is not None:
            self._verifier.close()
            self._verifier = None
