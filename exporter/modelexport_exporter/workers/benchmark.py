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
from collections.abc import Callable
from typing import Any

import torch

from modelexport_api.status import Latency, LatencyFigures, Stage
from modelexport_exporter.call.tensors import to_tensor
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.benchmark_plan import (
    BUDGET_SECONDS,
    COMPILED_ROUNDS,
    Benchmark,
    enough,
    figures,
    memory_problem,
    sizes_to_measure,
)
from modelexport_exporter.core.dims import DimSizes
from modelexport_exporter.core.machine import free_memory
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.verification.reference_model import load_reference_model
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.verification.samples.sample_source import plain_source
from modelexport_exporter.verification.samples.sizes import volume

WARM_UP = 3
Timed = Callable[[], float]
"""Makes one call, and returns its seconds."""


@older_torch()
def measure(task: ExportTask, converted: ConvertedModel, progress: ReportProgress) -> Benchmark:
    """Return the latency of eager and onnxruntime, or why there is none."""
    started = time.monotonic()
    progress(Stage.VERIFY, 1.0, "measuring latency")
    size = sum(file.size_bytes for file in converted.files)
    problem = memory_problem(size, free_memory())
    if problem:
        return Benchmark(None, (problem,))
    bench = _Bench(task, converted)
    dims = DimSizes.of(bench.spec)
    sizes, wanted = dims.captured, dims.highest
    small = (bench.eager(sizes), bench.onnx(sizes))
    for call in small:
        call()  # cold
    growth = volume(bench.spec.inputs, wanted) / max(volume(bench.spec.inputs, sizes), 1)
    slowest = max(min(call(), call(), call()) for call in small)
    chosen, note = sizes_to_measure(sizes, wanted, slowest, growth)
    calls = (bench.eager(chosen), bench.onnx(chosen))
    eager, onnx = _alternate(calls, started + BUDGET_SECONDS)
    latency = Latency(dims=chosen, eager=figures(eager), onnx=figures(onnx))
    return Benchmark(latency, (note,) if note else ())


@older_torch()
def measure_compiled(
    task: ExportTask,
    converted: ConvertedModel,
    sizes: dict[str, int],
    progress: ReportProgress,
) -> LatencyFigures:
    """Return the latency of the module compiled by torch.compile at these sizes."""
    progress(Stage.VERIFY, 1.0, "compiling with torch.compile to measure it")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(task.output_dir.parent / "inductor"))
    bench = _Bench(task, converted, with_session=False)
    call = bench.eager(sizes, compiled=True)
    (seconds,) = _alternate((call,), time.monotonic() + BUDGET_SECONDS, COMPILED_ROUNDS)
    return figures(seconds)


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

    def onnx(self, sizes: dict[str, int]) -> Timed:
        """Return the artifact's call at these sizes: arrays in, arrays out."""
        arrays = {**self._arrays(sizes), **self._weights}

        def call() -> float:
            begin = time.perf_counter()
            self._session.run(arrays, "latency")
            return time.perf_counter() - begin

        return call

    def eager(self, sizes: dict[str, int], *, compiled: bool = False) -> Timed:
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

    def _arrays(self, sizes: dict[str, int]) -> dict[str, Any]:
        drawn = self._samples.arrays(Sample(sizes, Values.NORMAL, 0))
        return {entry.name: drawn[entry.name] for entry in self.spec.inputs}
