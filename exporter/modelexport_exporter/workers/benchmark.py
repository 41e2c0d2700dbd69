"""Measures the warm latency of a call in eager PyTorch, onnxruntime and torch.compile.

Runs in child processes after the verdict; neither a failure nor a timeout fails the export. Eager
and onnxruntime alternate in one process, with the same threads and arrays, so that other load on
the machine affects both. onnxruntime runs as in production (prepacking, memory arena), except that
idle threads do not spin, which would take the CPU from eager. torch.compile runs in a process of
its own, because a compiler can only be stopped by killing it; `benchmark_plan` decides whether.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

from modelexport_api.status import Latency, LatencyFigures, Stage
from modelexport_exporter.call.tensors import to_tensor
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.benchmark_plan import (
    COMPILED_ROUNDS,
    Benchmark,
    enough,
    figures,
    growing_sizes,
    largest_affordable,
    memory_problem,
)
from modelexport_exporter.core.dims import DimSizes
from modelexport_exporter.core.machine import free_memory
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.verification.reference_model import load_reference_model
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.verification.samples.plain_source import plain_source
from modelexport_exporter.verification.samples.sizes import volume

WARM_UP = 3
Timed = Callable[[], float]
"""Makes one call, and returns its seconds."""


@older_torch()
def measure(
    task: ExportTask, converted: ConvertedModel, seconds: float, progress: ReportProgress
) -> Benchmark:
    """Return the latency of eager and onnxruntime, or why there is none.

    `seconds`: time limit of the whole measurement, loading the model included.
    """
    until = time.monotonic() + seconds
    progress(Stage.VERIFY, 1.0, "measuring latency")
    size = sum(file.size_bytes for file in converted.files)
    problem = memory_problem(size, free_memory())
    if problem:
        return Benchmark(None, (problem,))
    bench = _Bench(task, converted)
    dims = DimSizes.of(bench.spec)
    sizes, note = largest_affordable(
        growing_sizes(dims.captured, dims.highest),
        lambda sizes: volume(bench.spec.inputs, sizes),
        bench.warm_round,
        lambda: until - time.monotonic(),
    )
    if sizes is None:
        return Benchmark(None, (note,))
    eager, onnx = _alternate((bench.eager(sizes), bench.onnx(sizes)), until)
    latency = Latency(dims=sizes, eager=figures(eager), onnx=figures(onnx))
    return Benchmark(latency, (note,) if note else ())


@older_torch()
def measure_compiled(
    task: ExportTask,
    converted: ConvertedModel,
    sizes: dict[str, int],
    seconds: float,
    progress: ReportProgress,
) -> LatencyFigures:
    """Return the latency of the module compiled by torch.compile at these sizes.

    `seconds`: time limit of the whole measurement; the caller kills the process at it.
    """
    until = time.monotonic() + seconds
    progress(Stage.VERIFY, 1.0, "compiling with torch.compile to measure it")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(task.output_dir.parent / "inductor"))
    bench = _Bench(task, converted, with_session=False)
    (taken,) = _alternate((bench.eager(sizes, compiled=True),), until, COMPILED_ROUNDS)
    return figures(taken)


def _alternate(
    calls: tuple[Timed, ...], until: float, most: int | None = None
) -> tuple[list[float], ...]:
    """Alternate between the calls until the medians are stable; return the seconds of each."""
    for call in calls:
        for _ in range(WARM_UP):
            if call() > until - time.monotonic():
                break
    taken: tuple[list[float], ...] = tuple([] for _ in calls)
    while not enough(taken, until - time.monotonic(), most):
        for call, seconds in zip(calls, taken, strict=True):
            seconds.append(call())
    return taken


class _Bench:
    """The model on both sides, ready to be called at any size."""

    def __init__(
        self, task: ExportTask, converted: ConvertedModel, *, with_session: bool = True
    ) -> None:
        self._original = original = load_reference_model(task, silent)
        self.spec = original.bound_inputs.spec
        self._samples = plain_source(task, self.spec)
        if with_session:
            self._weights = original.reference.weights(converted.weight_inputs)
            self._session = Session(
                converted.model_path,
                original.provider,
                setup=original.plugins.session_setup(),
                production=True,
            )

    def warm_round(self, sizes: Mapping[str, int]) -> float:
        """Return the seconds of one call of eager and one of onnxruntime, after one of each."""
        calls = (self.eager(sizes), self.onnx(sizes))
        for call in calls:
            call()
        return sum(call() for call in calls)

    def onnx(self, sizes: Mapping[str, int]) -> Timed:
        """Return the artifact's call at these sizes: arrays in, arrays out."""
        arrays = {**self._arrays(sizes), **self._weights}

        def call() -> float:
            begin = time.perf_counter()
            self._session.run(arrays, "latency")
            return time.perf_counter() - begin

        return call

    def eager(self, sizes: Mapping[str, int], *, compiled: bool = False) -> Timed:
        """Return the module's call at these sizes: tensors in, tensors out."""
        original = self._original
        device = original.reference.device
        values = {name: to_tensor(array).to(device) for name, array in self._arrays(sizes).items()}
        module: Any = torch.compile(original.module) if compiled else original.module

        def call() -> float:
            # A module may write into its inputs.
            given = {key: value.clone() for key, value in values.items()}
            args, kwargs = original.bound_inputs.call.arguments(given)
            with torch.inference_mode(not compiled), torch.no_grad():
                begin = time.perf_counter()
                module(*args, **kwargs)
                if original.on_gpu:
                    torch.cuda.synchronize()
                return time.perf_counter() - begin

        return call

    def _arrays(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        drawn = self._samples.arrays(Sample(dict(sizes), Values.NORMAL, 0))
        return {entry.name: drawn[entry.name] for entry in self.spec.inputs}
