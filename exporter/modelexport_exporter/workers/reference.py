"""The process of the original model: it runs the user's code, and answers what the judge asks.

While the file is being made it loads the module and runs it on the planned samples, which depend on
the spec and the checkpoint only. For several checkpoints it keeps its imports and the user's code.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_api.status import Stage
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.machine import (
    cpu_count,
    free_large_blocks_at_once,
    free_unused,
    release_memory,
    sharing_cpus,
    thread_count,
)
from modelexport_exporter.core.outcome import NotCompared
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.isolation.peer import Answerer
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.user_code import set_orders
from modelexport_exporter.verification.original import Facts
from modelexport_exporter.verification.reference_model import (
    ReferenceModel,
    as_verification,
    load_reference_model,
    prepare_shapes,
)
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.shapes.observed import EagerShapes, Shape
from modelexport_exporter.workers.early_runs import EarlyRuns
from modelexport_exporter.workers.local_original import LocalOriginal
from modelexport_exporter.workers.original_calls import (
    ANSWERS,
    COMPARE,
    QUESTIONS,
    SIDES_MISSING,
    SIDES_OPEN,
    SIDES_REACH,
)

Array = NDArray[Any]
Arrays = Mapping[str, Array]

EXPORTER_AND_REFERENCE = 2
LARGE_OUTPUT_BYTES = 1 << 20
"""Memory is given back after outputs of so many bytes."""


class Reference:
    """Answers for one model, with the weights of one checkpoint after the other."""

    def __init__(self, channel: Connection) -> None:
        self._answerer = Answerer(channel)
        self._model: ReferenceModel | None = None
        self._early: EarlyRuns | None = None
        self._frozen = False

    def prepare(self, task: ExportTask, _progress: ReportProgress) -> None:
        """Load the original module, and go on with runs of it. Raises ExportFailure."""
        free_large_blocks_at_once()
        with sharing_cpus(EXPORTER_AND_REFERENCE), older_torch():
            model = prepare_shapes(_load(task, silent))
            threads = thread_count()
        self._model = model
        if cpu_count() > 1 and not model.on_gpu:
            self._early = EarlyRuns(task, model, threads)

    def answer(self, task: ExportTask, progress: ReportProgress) -> None:
        """Answer the judge until it has done with the file of this task."""
        progress(Stage.VERIFY, 0.0, "answering the judge")  # where its death is explained
        # While a file is verified by its weights alone, the next checkpoint is exported.
        busy = EXPORTER_AND_REFERENCE if task.proven_graph else 1
        try:
            with sharing_cpus(busy), older_torch():
                _Answers(self._answerer, task, lambda: self._loaded(task, progress)).serve()
        finally:
            self._free()

    def _loaded(self, task: ExportTask, progress: ReportProgress) -> ReferenceModel:
        """Return the model that was prepared, or load it. Raises ExportFailure."""
        model, self._model = self._model, None
        if self._early is not None:
            model, self._early = self._early.stop(), None
        torch.set_num_threads(thread_count())
        if model is None:
            free_large_blocks_at_once()
            model = _load(task, as_verification(progress))
        return model

    def _free(self) -> None:
        free_unused()
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            # onnxruntime has its own allocator, which can use only memory that torch has freed.
            torch.cuda.empty_cache()
        if not self._frozen:
            # Imported objects live until the end: later collections need not visit them.
            gc.freeze()
            self._frozen = True


def _load(task: ExportTask, progress: ReportProgress) -> ReferenceModel:
    set_orders.watch(task.spec.model, task.code_dir)
    return load_reference_model(task, progress)


class _Answers:
    """The methods of the original model of one task, as the judge calls them."""

    def __init__(
        self, answerer: Answerer, task: ExportTask, load: Callable[[], ReferenceModel]
    ) -> None:
        self._answerer, self._task, self._load = answerer, task, load
        self._original: LocalOriginal | None = None
        self._shapes: EagerShapes | None = None
        self._ranking = ExitStack()

    def serve(self) -> None:
        """Answer until the judge has done."""
        self._answerer.serve({name: (self._method(name), kind) for name, kind in ANSWERS.items()})

    def _method(self, name: str) -> Callable[..., object]:
        """Return the method of this class, or else that of the original model."""

        def method(*arguments: object) -> object:
            owner = self if hasattr(type(self), name) else self._here
            return getattr(owner, name)(*arguments)

        return method

    @property
    def _here(self) -> LocalOriginal:
        assert self._original is not None
        return self._original

    def facts(self) -> Facts:
        """Load the model, and return what is known of it. Raises ExportFailure."""
        answerer = self._answerer
        self._original = LocalOriginal(self._task, self._load(), lambda: answerer.busy)
        answerer.clock = self._original.busy
        return self._original.facts

    def begin(self, converted: ConvertedModel, samples: SampleSource) -> None:
        """Begin to watch runs."""
        here = self._here
        self._here.begin(converted, replace(samples, sampler=here.sampler))

    def run(self, arrays: Arrays, where: str) -> list[Array]:
        """Return the output tensors in order. Raises ExportFailure."""
        outputs = self._here.run(arrays, where)
        if sum(array.nbytes for array in outputs) > LARGE_OUTPUT_BYTES:
            release_memory()
        return outputs

    def rank_stably(self, stably: bool) -> None:
        """Rank equal values in the order of their positions from now on, or no longer."""
        if stably:
            self._ranking.enter_context(self._here.stable_rankings())
        else:
            self._ranking.close()

    def prepare_shapes(self, arrays: Arrays) -> None:
        """Take numbers from these arrays."""
        self._shapes = self._here.eager_shapes(arrays)

    def shapes_at(self, sizes: Mapping[str, int]) -> list[Shape] | None:
        """Return the shapes of the outputs at these sizes."""
        assert self._shapes is not None
        found = self._shapes(sizes)
        return None if found is None else [tuple(map(int, shape)) for shape in found]

    def seek(self, results: list[SampleComparison], has_sides: bool) -> None:
        """Compare inputs that reach more. `results`: all so far."""

        def compare(found: Found) -> None:
            results.extend(self._question(COMPARE, found))

        self._here.seek(results, compare, _SidesOfFile(self._question) if has_sides else None)

    def _question(self, name: str, argument: object = None) -> Any:  # noqa: ANN401
        return self._answerer.call_back(name, argument, QUESTIONS[name])

    def not_compared(self) -> tuple[NotCompared, ...]:
        """Return what no sample reached."""
        return self._here.not_compared()

    def pitfalls(self, not_deterministic: bool) -> object:
        """Return what the model's code shows of the cause of a difference."""
        return self._here.pitfalls(not_deterministic=not_deterministic)

    def explained(self, failure: ExportFailure) -> None:
        """Raise the failure with the lines of the model's code that caused it."""
        raise self._here.explained(failure)


class _SidesOfFile:
    """The sides of the file, which the judge runs."""

    def __init__(self, question: Callable[..., Any]) -> None:
        self._question = question

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Return the sides that no run took."""
        found: list[tuple[int, int]] = self._question(SIDES_MISSING)
        return found

    @property
    def is_open(self) -> bool:
        """Return whether a side that computes was not taken."""
        found: bool = self._question(SIDES_OPEN)
        return found

    def reaches(self, arrays: Arrays) -> bool:
        """Return whether a run on these inputs takes a side for the first time."""
        found: bool = self._question(SIDES_REACH, arrays)
        return found
