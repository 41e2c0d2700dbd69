"""Eager PyTorch on the original module: the reference that the artifact is compared with."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_exporter.call import NUMBERS, Call, flatten
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.call.raised_errors import is_certain, way_out
from modelexport_exporter.call.same_outputs import SameOutputs
from modelexport_exporter.call.tensors import to_array, to_tensor
from modelexport_exporter.core.errors import ExportFailure, RefusedCall
from modelexport_exporter.core.out_of_memory import is_out_of_memory
from modelexport_exporter.core.user_frame import message_of, user_frame
from modelexport_exporter.precision.noise import Simulation
from modelexport_exporter.sampling.masks import masks_hold
from modelexport_exporter.torch_internals.one_dnn import without_one_dnn
from modelexport_exporter.torch_internals.tf32 import forbid_tf32
from modelexport_exporter.user_code.caches import bypassing_caches, modules_of
from modelexport_exporter.verification.early_outputs import EarlyOutputs, EarlyRun
from modelexport_exporter.verification.looks_for_nan import LooksForNan
from modelexport_exporter.verification.numerics.arithmetic import COARSENESS, EXACT, Arithmetic
from modelexport_exporter.verification.numerics.arithmetic_dtype import arithmetic_of
from modelexport_exporter.verification.numerics.integer_arithmetic import integers_only
from modelexport_exporter.verification.numerics.kernel_errors import KernelErrors
from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    PerturbedArithmeticUnavailable,
    in_float64,
    raising_unavailable,
)
from modelexport_exporter.verification.numerics.random_rounding import with_random_rounding
from modelexport_exporter.verification.numerics.stable_rankings import StableRankings
from modelexport_exporter.verification.seeking.nan_tests import tests_for_nan
from modelexport_exporter.verification.seeking.value_reads import ValueReads
from modelexport_exporter.verification.seeking.watched_run import WatchedRun
from modelexport_exporter.verification.treatment_of_nan import TreatmentOfNan

Array = NDArray[Any]

LARGEST_OUTPUTS = 10_000_000
"""Outputs of more elements are the size of a value, not of the inputs."""
SLOWER, SLOWER_SECONDS = 10.0, 0.1
"""A call that takes so many times the fastest one, and so much longer, loops over a value."""


class EagerReference:
    """The original module, ready to be called with a sample's arrays."""

    def __init__(
        self,
        module: torch.nn.Module,
        call: Call,
        *,
        device: str = "cpu",
        code_dir: Path | None = None,
    ) -> None:
        """Move the module to the device, with TF32 off as in onnxruntime.

        An ExportedProgram is not moved: its graph names its devices.
        """
        forbid_tf32()
        self._call = call
        self._code_dir = code_dir
        fixed = isinstance(module, torch.fx.GraphModule)
        self.device = "cpu" if fixed else device
        self._module = module if fixed else module.to(device)
        self._fastest = math.inf
        self._ranking: Callable[[], AbstractContextManager[object]] = nullcontext
        self.watching: Callable[[Mapping[str, Array]], AbstractContextManager[object]] = (
            lambda _arrays: nullcontext()
        )
        """A context for each run that is compared, made from its inputs."""
        self.early = EarlyOutputs()
        self._outputs = SameOutputs()

    def computed_in(self, arrays: Mapping[str, Array]) -> list[Arithmetic]:
        """Return for each output the arithmetic that leads to it.

        Where the module does not run under a dispatch mode: of all weights, buffers and inputs.
        """
        values = self.values(arrays)
        try:
            with raising_unavailable():
                return arithmetic_of(lambda: self.call(values))
        except PerturbedArithmeticUnavailable:
            with torch.inference_mode():
                return [Arithmetic(self._coarsest)] * len(self.call(values))

    def integers_only(self, arrays: Mapping[str, Array]) -> frozenset[str]:
        """Return the inputs that lead to integers only; none where the module does not run."""
        values = self.values(arrays)
        try:
            return integers_only(values, lambda: self.call(values))
        except Exception:  # noqa: BLE001 - forward is the user's code, on values of our choice
            return frozenset()

    @cached_property
    def float_dtypes(self) -> frozenset[str]:
        """Return the floating-point dtypes of weights, buffers and inputs."""
        tensors = [*self._module.parameters(), *self._module.buffers()]
        weights = {_name(tensor.dtype) for tensor in tensors if tensor.is_floating_point()}
        given = {entry.dtype.value for entry in self._call.inputs if entry.kind not in NUMBERS}
        return frozenset(dtype for dtype in weights | given if dtype in COARSENESS)

    @property
    def _coarsest(self) -> str:
        return max(self.float_dtypes, key=COARSENESS.__getitem__, default=EXACT)

    def weights(self, keys: Mapping[str, str]) -> dict[str, Array]:
        """Return tensors of the state_dict. `keys`: the key by the name of the input."""
        tensors = self.state()
        return {name: to_array(tensors[key]) for name, key in keys.items()}

    def state(self) -> dict[str, torch.Tensor]:
        """Return parameters and buffers by name."""
        return dict([*self._module.named_parameters(), *self._module.named_buffers()])

    def treatment_of_nan(self, arrays: Mapping[str, Array]) -> TreatmentOfNan:
        """Return how the module, called with these arrays, treats NaN and infinity."""
        values = self.values(arrays)
        reads = ValueReads()
        with torch.no_grad(), LooksForNan() as looking, reads:
            self.call(values)
        if looking.found or any(tests_for_nan(site.code) for site in reads.read):
            return TreatmentOfNan.TESTED
        if looking.may_crash or looking.reads_values or (looking.rounds and looking.has_own_way):
            return TreatmentOfNan.UNDEFINED
        if looking.rounds:
            return TreatmentOfNan.ROUNDED
        return TreatmentOfNan.FUSED if looking.has_own_way else TreatmentOfNan.COMPUTED

    def run(self, arrays: Mapping[str, Array], where: str) -> list[Array]:
        """Return the module's output tensors in order, nested ones flattened.

        `where`: describes the arrays in a failure's message. Raises ExportFailure.
        """
        values = self.values(arrays)
        try:
            with torch.inference_mode(), self.watching(arrays):
                returned = self._returned(values)
                self._outputs.check(returned, where)
                return [to_array(leaf) for leaf in flatten(returned)]
        except ExportFailure:
            raise
        except Exception as error:
            failure = _failure(error, where, self._code_dir)
            if failure.reason is Reason.INPUTS_MISMATCH and not is_certain(error):
                failure.refused = RefusedCall(values, self._call_elsewhere)
            raise failure from error

    def accepts(self, arrays: Mapping[str, Array]) -> bool:
        """Return whether the module runs on these arrays, and returns no exceedingly large ones.

        Whether they are inputs of the model: each row of a mask keeps an element. What it returns
        is kept for a comparison, unless the module reads values: those runs are watched.
        """
        if not masks_hold(self._call.inputs, arrays):
            return False
        values, reads = self.values(arrays), ValueReads()
        started = time.monotonic()
        try:
            with torch.inference_mode(), reads:
                returned = self._returned(values)
                leaves = list(flatten(returned))
        except Exception:  # noqa: BLE001 - whatever user code raises is a refusal
            return False
        seconds = time.monotonic() - started
        self._fastest = min(self._fastest, seconds)
        elements: int = sum(leaf.numel() for leaf in leaves)
        longest = SLOWER * self._fastest + SLOWER_SECONDS
        accepted = elements <= LARGEST_OUTPUTS and seconds < longest
        if accepted and not reads.read:
            # What is no array, and outputs that others lack, are reported where they are compared.
            with suppress(Exception):
                self._outputs.check(returned, "inputs of a search")
                outputs = [to_array(leaf) for leaf in leaves]
                self.early.add(arrays, EarlyRun(outputs, 0.0, WatchedRun()))
        return accepted

    def remember(self) -> Callable[[], None]:
        """Return a function that gives the module the state that it has now."""
        before = ModuleState(self._module)
        return lambda: before.restore(self._module)

    def in_float64(self, arrays: Mapping[str, Array]) -> list[Array]:
        """Return its outputs computed in float64. Raises PerturbedArithmeticUnavailable."""
        values = self.values(arrays)
        with self.without_caches(self._module):
            return [to_array(leaf) for leaf in in_float64(lambda: self.call(values))]

    def in_float64_if_possible(self, arrays: Mapping[str, Array]) -> list[Array]:
        """Return its outputs computed in float64; none where it does not run in it."""
        try:
            return self.in_float64(arrays)
        except PerturbedArithmeticUnavailable:
            return []

    def with_random_rounding(self, arrays: Mapping[str, Array], seed: int) -> list[Array]:
        """Return its outputs when its ops round at random. Same exceptions."""
        values = self.values(arrays)
        with self.without_caches(self._module):
            leaves = with_random_rounding(lambda: self.call(values), seed)
        return [to_array(leaf) for leaf in leaves]

    def with_kernel_errors(self, arrays: Mapping[str, Array], seed: int) -> list[Array] | None:
        """Return its outputs with the absolute errors of kernels; None where none has any.

        Raises PerturbedArithmeticUnavailable.
        """
        values = self.values(arrays)
        apart = self.without_caches(self._module)
        with (
            apart,
            without_one_dnn(),
            raising_unavailable(),
            torch.no_grad(),
            KernelErrors(seed) as mode,
        ):
            leaves = self.call(values)
        return [to_array(leaf) for leaf in leaves] if mode.found else None

    def in_precision(
        self, arrays: Mapping[str, Array], simulation: Simulation, seed: int
    ) -> list[Array]:
        """Return its outputs in a simulated precision. Same exceptions."""
        values = self.values(arrays)
        with self.without_caches(self._module), raising_unavailable():
            leaves = simulation.run(lambda: self.call(values), seed)
        return [to_array(leaf) for leaf in leaves]

    def observe(self, arrays: Mapping[str, Array], simulation: Simulation) -> None:
        """Let a simulation measure the ranges of activations on one of the calibration inputs."""
        values = self.values(arrays)
        simulation.observe(lambda: self.call(values))

    def without_caches(self, module: torch.nn.Module) -> AbstractContextManager[None]:
        """Return a context for runs of the module, or a copy, of whose tensors none may be kept."""
        return bypassing_caches(module, self._python_modules)

    @cached_property
    def _python_modules(self) -> list[ModuleType]:
        return modules_of(self._module, self._code_dir)

    def values(self, arrays: Mapping[str, Array]) -> dict[str, torch.Tensor]:
        """Return the inputs as tensors on the model's device, by name."""
        names = self._call.input_names
        return {name: to_tensor(arrays[name]).to(self.device) for name in names}

    def _call_elsewhere(self, values: Mapping[str, torch.Tensor]) -> object:
        return self.call({name: value.to(self.device) for name, value in values.items()})

    def call(self, values: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
        """Return the output tensors in order; raises what the module raises."""
        return list(flatten(self._returned(values)))

    def _returned(self, values: Mapping[str, torch.Tensor]) -> object:
        args, kwargs = self._call.arguments(values)
        with self._ranking():
            returned: object = self._module(*args, **kwargs)
        return returned

    @contextmanager
    def stable_rankings(self) -> Iterator[None]:
        """Rank equal values in the order of their positions, in all runs of this context."""
        self._ranking = StableRankings
        try:
            yield
        finally:
            self._ranking = nullcontext


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _failure(error: Exception, where: str, code_dir: Path | None) -> ExportFailure:
    lines = message_of(error).strip().splitlines() or [""]
    text = f"{type(error).__name__}: {' '.join(lines[-1].split())[:600]}"
    if is_out_of_memory(error):
        return ExportFailure(
            Reason.OUT_OF_MEMORY,
            f"eager PyTorch ran out of memory at {where}: {text}",
            "Give the process (or the GPU) more memory, or declare smaller maxima in dims.",
        )
    frame = user_frame(error, code_dir)
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"the original model fails at {where}, which the spec declares: {text}"
        + (f" ({frame})" if frame else ""),
        way_out(
            error,
            "Declare in dims only sizes that the model supports, and in inputs[].range the values "
            "that it accepts (for example token ids below the size of the vocabulary).",
        ),
    )
