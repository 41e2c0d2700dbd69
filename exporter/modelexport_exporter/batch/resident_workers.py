"""Who works on the checkpoints of a batch: workers that stay as long as they are of use.

Guarantees that a fresh export has fresh processes, so that it fails only for what is its own; that
nothing made by a graph counts unless the graph's first file was verified; and that a worker's death
costs one checkpoint's attempt and nothing else.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from modelexport_api.spec import Exporter
from modelexport_exporter.batch.graph_reuse import Reuse
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.types import ROUTES, ConvertedModel, ExportTask, Rung
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.resident import Resident
from modelexport_exporter.pipeline.run_base import Settings


@dataclass(frozen=True)
class Graph:
    """A translated graph: the worker that has it, and what was made of it first."""

    exporter: Resident
    rung: Rung
    nodes: dict[str, int]
    """The nodes of the first file by operator."""

    def task_of(self, task: ExportTask, converted: ConvertedModel) -> ExportTask:
        """Return the task as it is to be verified, of a file that was made by this graph.

        The optimizer sees the weights: a file whose nodes are others than the first one's is
        verified at all sizes again.
        """
        return replace(task, rung=self.rung, proven_graph=converted.op_counts == self.nodes)


class ResidentWorkerPool:
    """Runs what stories ask for in workers that are kept for the next one.

    One thread may rebind while another does all the rest.
    """

    def __init__(
        self,
        settings: Settings,
        exporter: str = entry_points.RESIDENT_EXPORTER,
        verifier: str = entry_points.RESIDENT_VERIFIER,
    ) -> None:
        self._entries: dict[str, Callable[[Any, dict[str, Any]], object]] = {
            settings.export_entry: self._export,
            settings.verify_entry: self._verify,
            entry_points.REBIND: self._rebind,
        }
        self._export_entry = settings.export_entry
        self._exporter_entry = exporter
        self._verifier_entry = verifier
        self._graph: Graph | None = None
        self._in_use: Graph | None = None
        self._candidate: Graph | None = None
        """Of a fresh export whose verdict is still open."""
        self._verifier: Resident | None = None
        self._reuse = Reuse()
        self._using = threading.Lock()
        """Held while a graph's worker is asked for something, and to let go of a graph."""
        self.on_graph: Callable[[], None] = lambda: None
        """Called when there is a graph that was not there before."""

    def __call__(self, entry: str, arguments: tuple[Any, ...], **how: Any) -> object:  # noqa: ANN401
        """Return what the entry's function returned. Raises ExportFailure."""
        mine = self._entries.get(entry)
        return mine(arguments, how) if mine else worker.run(entry, arguments, **how)

    def _export(self, arguments: tuple[ExportTask], how: dict[str, Any]) -> object:
        self.reject()
        (task,) = arguments
        if ROUTES[task.rung] is not Exporter.DYNAMO or not self._reuse.adopts:
            return worker.run(self._export_entry, arguments, **how)
        exporter = Resident(self._exporter_entry)
        try:
            converted = exporter.call("export", arguments, **how)
            assert isinstance(converted, ConvertedModel)
        except BaseException:
            exporter.close()
            raise
        self._candidate = Graph(exporter, task.rung, converted.op_counts)
        self.on_graph()
        return converted

    def _verify(self, arguments: tuple[ExportTask, ConvertedModel], how: dict[str, Any]) -> object:
        if not arguments[0].proven_graph:
            self._end_verifier()
        if self._verifier is None or not self._verifier.alive:
            self._verifier = Resident(self._verifier_entry)
        return self._verifier.call("verify", arguments, **how)

    def _rebind(self, arguments: tuple[ExportTask], how: dict[str, Any]) -> object:
        assert self._in_use is not None
        return self._in_use.exporter.call("rebind", arguments, **how)

    @contextlib.contextmanager
    def graph(self) -> Iterator[Graph | None]:
        """Yield the graph that the next checkpoint is to be tried with, if there is one.

        It is not let go while the block runs. Whether it is kept may not be known yet: `stands`
        tells when the verdict on its first file is there.
        """
        with self._using:
            if self._graph is not None and not self._graph.exporter.alive:
                self._graph, self._reuse = None, self._reuse.lost()
            kept = self._graph if self._reuse.rebinds else None
            self._in_use = self._candidate if self._reuse.adopts and self._candidate else kept
            yield self._in_use

    def keeps(self, graph: Graph) -> bool:
        """Tell whether a graph's first file was verified, and it is in use since."""
        return graph is self._graph

    def stands(self, graph: Graph) -> bool:
        """Tell whether nothing speaks against a graph."""
        return self.keeps(graph) or graph is self._candidate

    def hit(self) -> None:
        """Note that a file made by the graph was verified."""
        self._reuse = self._reuse.hit()

    def missed(self) -> None:
        """Note that the graph did not lead to a verified file."""
        self._reuse = self._reuse.missed()

    def confirm(self) -> None:
        """Keep the graph of a fresh export, whose file was verified, if it is of use."""
        if self._candidate is None or not self._reuse.adopts:
            self.reject()
            return
        with self._using:
            if self._graph is not None:
                self._graph.exporter.close()
            self._graph, self._candidate = self._candidate, None
            self._reuse = self._reuse.adopted()

    def reject(self) -> None:
        """Let go of the graph of a fresh export whose file is not to be published."""
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
