"""The original model in the process that holds it: answers what the judge asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_api.spec import Mode
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.call.user_sampler import sampler_of
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.errors import ExportFailure, RefusedCall
from modelexport_exporter.core.machine import busy_seconds, peak_memory
from modelexport_exporter.core.outcome import NotCompared
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.sample import Sample
from modelexport_exporter.core.types import ROUTES, ConvertedModel, ExportTask, Rung
from modelexport_exporter.diagnosis.explain import explain, find_pitfalls
from modelexport_exporter.precision.noise import Simulation
from modelexport_exporter.sampling.lookups import Lookups
from modelexport_exporter.verification.memory_of_calls import check_no_memory
from modelexport_exporter.verification.numerics.arithmetic import Arithmetic
from modelexport_exporter.verification.numerics.in_precision import simulation_for
from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    PerturbedArithmeticUnavailable,
)
from modelexport_exporter.verification.order_of_sets import check_order_of_sets
from modelexport_exporter.verification.original import Facts, FileSides
from modelexport_exporter.verification.reference_model import ReferenceModel
from modelexport_exporter.verification.samples.code_constants import code_constants
from modelexport_exporter.verification.samples.find_lookups import find_lookups
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.completeness import Completeness
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.seeking.frozen_code import branches_of, may_freeze_sizes
from modelexport_exporter.verification.shapes.eager_shapes import eager_shapes
from modelexport_exporter.verification.shapes.observed import EagerShapes
from modelexport_exporter.verification.treatment_of_nan import TreatmentOfNan

Array = NDArray[Any]
Arrays = Mapping[str, Array]


class LocalOriginal:
    """A loaded model that was not called yet."""

    def __init__(
        self,
        task: ExportTask,
        model: ReferenceModel,
        others: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`others`: the busy seconds of the processes that this one waits for."""
        self.model = model
        spec = model.bound_inputs.spec
        self._task = replace(task, spec=spec)
        self._reference = model.reference
        self._others = others
        self._at_first: ModuleState | None = None
        """The state of the module before the first comparison."""
        self._refused: RefusedCall | None = None
        """The last call that the model refused."""
        self.sampler = sampler_of(spec, task.code_dir)
        self.facts = Facts(
            provider=model.provider,
            inputs=tuple(spec.inputs),
            outputs=tuple(spec.outputs),
            named=code_constants(model.module, task.code_dir),
            float_dtypes=self._reference.float_dtypes,
        )
        self._simulation: Simulation | None = None
        self._completeness: Completeness | None = None

    def busy(self) -> float:
        """Return a clock in seconds, which early runs put forward when they are used."""
        if self.model.on_gpu:  # this process waits for it, so that its CPU time is meaningless
            return time.monotonic()
        return busy_seconds() + self._reference.early.seconds

    def clock(self) -> float:
        """Return the seconds in which this verification was busy."""
        return self.busy() + (0.0 if self.model.on_gpu else self._others())

    def peak_memory(self) -> int:
        """Return the largest resident size of this process, in bytes."""
        return peak_memory()

    def draw(self, sample: Sample) -> dict[str, Array]:
        """Return the arrays of the user's sampler. Raises ExportFailure."""
        assert self.sampler is not None
        return self.sampler(sample)

    def lookups(self, path: Path, arrays: Arrays) -> tuple[Lookups, ...]:
        """Return the rows of the file's tables that differ from the model's."""

        def run_eager(watching: AbstractContextManager[object]) -> None:
            # A model that fails on its own inputs is reported where it is compared.
            with suppress(Exception):
                values = self._reference.values(arrays)
                with torch.no_grad(), watching:
                    self._reference.call(values)

        inputs = self._task.spec.inputs
        return find_lookups(path, self._reference.state(), inputs, run_eager)

    def weights(self, keys: Mapping[str, str]) -> dict[str, Array]:
        """Return tensors of the state_dict. `keys`: the key by the name of the input."""
        return self._reference.weights(keys)

    def begin(self, converted: ConvertedModel, samples: SampleSource) -> None:
        """Begin to watch runs for what samples do not reach of the model and the file."""
        task = self._task
        self._at_first = self._at_first or ModuleState(self.model.module)
        self._simulation = simulation_for(task, task.spec, self._reference)
        self._completeness = Completeness(
            samples,
            self._reference,
            branches=branches_of(task),
            code_dir=task.code_dir,
            frozen_sizes=may_freeze_sizes(task, converted),
            trace=task.rung is Rung.TRACE,
            clock=self.clock,
        )

    def check_repeatable(self) -> None:
        """Raise NotDeterministic if a call depends on earlier ones or on the order of a set."""
        check_no_memory(self.model)
        check_order_of_sets(self._task, self.model)

    def early_outputs(self, arrays: Arrays) -> list[Array] | None:
        """Return outputs that were computed before the file was there, at the first call."""
        early = self._reference.early.take(arrays)
        if early is None:
            return None
        if self._completeness is not None:
            self._completeness.note(arrays, early.watched)
        return early.outputs

    def run(self, arrays: Arrays, where: str) -> list[Array]:
        """Return the output tensors in order. Raises ExportFailure."""
        try:
            return self._reference.run(arrays, where)
        except ExportFailure as failure:
            self._refused = failure.refused
            raise

    def stable_rankings(self) -> AbstractContextManager[None]:
        """Rank equal values in the order of their positions, in all runs of the context."""
        return self._reference.stable_rankings()

    def accepts(self, arrays: Arrays) -> bool:
        """Return whether the model runs on these arrays."""
        return self._reference.accepts(arrays)

    def treatment_of_nan(self, arrays: Arrays) -> TreatmentOfNan:
        """Return how the model, called with these arrays, treats NaN and infinity."""
        return self._reference.treatment_of_nan(arrays)

    def computed_in(self, arrays: Arrays) -> list[Arithmetic]:
        """Return for each output the arithmetic that leads to it."""
        early = self._reference.early.arithmetic.take_computed_in(arrays)
        return self._reference.computed_in(arrays) if early is None else early

    def perturbed(self, arrays: Arrays, run: int) -> list[Array] | None:
        """Return the outputs in perturbed arithmetic; None where it does not run in it."""
        try:
            if self._simulation is not None:
                return self._reference.in_precision(arrays, self._simulation, run)
            if run:
                return self._reference.with_random_rounding(arrays, run)
        except PerturbedArithmeticUnavailable:
            return None
        early = self._reference.early.arithmetic.take_in_float64(arrays)
        return self._reference.in_float64_if_possible(arrays) if early is None else early

    def with_kernel_errors(self, arrays: Arrays) -> list[Array] | None:
        """Return the outputs with the absolute errors of kernels; None where none has any."""
        try:
            return self._reference.with_kernel_errors(arrays, 1)
        except PerturbedArithmeticUnavailable:
            return None

    def eager_shapes(self, arrays: Arrays) -> EagerShapes:
        """Return the shapes of outputs by sizes; numbers are taken from `arrays`."""
        model = self.model
        if model.eager_shapes is not None:
            return model.eager_shapes
        call, reference = model.bound_inputs.call, self._reference
        apart = reference.without_caches
        return eager_shapes(model.module, call, arrays, reference.device, apart)

    def seek(
        self,
        results: list[SampleComparison],
        compare: Callable[[Found], None],
        sides: FileSides | None,
    ) -> None:
        """Compare inputs that reach more. `compare` adds to `results`, which has all so far."""
        self._watched.seek(results, compare, sides)

    def not_compared(self) -> tuple[NotCompared, ...]:
        """Return what no sample reached."""
        return self._watched.not_compared()

    def coverage(self) -> list[str]:
        """Return sentences on the branches of which both sides ran."""
        return self._watched.coverage()

    @property
    def _watched(self) -> Completeness:
        assert self._completeness is not None
        return self._completeness

    def pitfalls(self, *, not_deterministic: bool) -> tuple[Pitfall, ...]:
        """Return what the model's code shows of the cause of a difference."""
        model = self.model
        return find_pitfalls(
            model.module,
            model.bound_inputs,
            self._task.code_dir,
            not_deterministic=not_deterministic,
        )

    def blame(self, converted: ConvertedModel, arrays: Arrays, limits: Sequence[float]) -> Blame:
        """Return the first node of the file that differs, by more than `limits` of the outputs."""
        # With onnxruntime, which this process needs after a mismatch only.
        from modelexport_exporter.blame.own_copy import beside_variants
        from modelexport_exporter.blame.record_onnx import Runtime
        from modelexport_exporter.blame.search import Suspect, find_blame

        model, task = self.model, self._task
        with beside_variants(converted.model_path) as path:
            blame = find_blame(
                Suspect(
                    module=model.module,
                    call=model.bound_inputs.call,
                    device=self._reference.device,
                    code_dir=task.code_dir,
                    path=path,
                    runtime=Runtime(model.provider, model.plugins.session_setup()),
                    arrays=arrays,
                    weights=self.weights(converted.weight_inputs),
                    limits=limits,
                )
            )
        if task.spec.mode is not Mode.EXPORT:
            return blame
        return replace(blame, plugin=model.plugins.translator_of(blame.aten, ROUTES[task.rung]))

    def explained(self, failure: ExportFailure) -> ExportFailure:
        """Return the failure with the lines of the model's code that caused it."""
        model = self.model
        (self._at_first or model.before).restore(model.module)
        if failure.reason is Reason.INPUTS_MISMATCH:
            failure.refused = failure.refused or self._refused
        return explain(failure, model.module, model.bound_inputs, self._task.code_dir)
