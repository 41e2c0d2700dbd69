"""The search for the node to blame: record both sides, match, suspect, prove, extract a repro.

The proof: with eager's value in place of a suspected one, the values that the file computes from it
match eager's again. Then the fault is between the matching values and this one. It also works where
a model has the same fault many times.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import torch

from modelexport_api.spec import Provider
from modelexport_exporter.blame import match, repro
from modelexport_exporter.blame.fingerprint import (
    Array,
    Fingerprint,
    distance,
    error_of,
    fingerprint,
)
from modelexport_exporter.blame.record_eager import SearchBudgetExceeded, record_eager
from modelexport_exporter.blame.record_onnx import File, Runtime, level_to_blame
from modelexport_exporter.blame.trace import Trace
from modelexport_exporter.blame.view import Pair, View
from modelexport_exporter.call import Call, flatten
from modelexport_exporter.call.tensors import to_array, to_tensor
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.machine import busy_seconds
from modelexport_exporter.verification.numerics.tolerance import UNCALIBRATED

SECONDS = 60.0
"""CPU time of this process; time of other processes does not count."""
MAX_PROOFS = 24
_WATCHED = 12
"""Number of values after a replaced one that are compared."""
_FOR_THE_REPRO = 10.0
_KEPT_BYTES = 256 << 20
QUANTIZED = 5e-2
"""The error up to which two values agree in a file that computes with bytes, relative to the peak;
in other files `UNCALIBRATED` of the coarsest dtype, as for outputs."""
_FINEST = 0.1
"""For a small error of the outputs, values must match within this share of it."""


@dataclass(frozen=True)
class Suspect:
    """A file and the sample on which it differs."""

    module: torch.nn.Module
    call: Call
    device: str
    code_dir: Path | None
    path: Path
    runtime: Runtime
    arrays: Mapping[str, Array]
    weights: Mapping[str, Array]
    limits: Sequence[float]
    """The absolute error that is allowed in each output."""


def find_blame(suspect: Suspect) -> Blame:
    """Return the node to blame, or why none was found. Never raises."""
    try:
        return _Search(suspect).blame()
    except SearchBudgetExceeded as reason:
        return Blame(why_not=str(reason))
    except Exception as error:  # noqa: BLE001 - a diagnosis of files and models of any kind
        return Blame(why_not=f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")


class _Search:
    def __init__(self, suspect: Suspect) -> None:
        self._suspect = suspect
        self._deadline = busy_seconds() + SECONDS
        feed = {**suspect.arrays, **suspect.weights}
        self._file = File(suspect.path, suspect.runtime, feed, self._deadline)
        self._expected: list[Array] = []

    def blame(self) -> Blame:
        """Return the node to blame; of the optimized file if only optimization makes it wrong."""
        eager, _ = self._eager()
        outputs = self._file.outputs()
        if not len(outputs) == len(self._expected) == len(self._file.output_names):
            return Blame(why_not="the file does not return one tensor for each that eager returns")
        wrong = self._wrong(outputs)
        if wrong:
            return self._search_file(eager, wrong)
        dump = self._suspect.path.with_name("optimized.onnx")
        try:
            level = level_to_blame(self._file, lambda outputs: not self._wrong(outputs), dump)
            if not level:
                return Blame(why_not=self._describe_agreement())
            return replace(self._search_optimized(eager, dump), optimization=level)
        finally:
            dump.unlink(missing_ok=True)

    def _describe_agreement(self) -> str:
        asked = self._suspect.runtime.provider
        if asked is Provider.TENSORRT:
            return "on CUDA the file matches: TensorRT causes the difference"
        return "the file matched when it ran again"

    def _search_optimized(self, eager: Trace, dump: Path) -> Blame:
        """Search the file as onnxruntime optimized it."""
        original = self._file
        try:
            self._file = File(dump, original.runtime, original.feed, self._deadline)
            wrong = self._wrong(self._file.outputs())
            return self._search_file(eager, wrong) if wrong else Blame()
        except Exception:  # noqa: BLE001 - the level alone is reported
            return Blame()

    def _eager(self, keep: Collection[int] = ()) -> tuple[Trace, dict[int, Array]]:
        suspect = self._suspect
        values = {
            name: to_tensor(suspect.arrays[name]).to(suspect.device)
            for name in suspect.call.input_names
        }
        args, kwargs = suspect.call.arguments(values)

        def call() -> tuple[torch.Tensor, ...]:
            leaves = tuple(flatten(suspect.module(*args, **kwargs)))
            self._expected = [to_array(leaf) for leaf in leaves]
            return leaves

        return record_eager(
            suspect.module,
            call,
            list(values.values()),
            code_dir=suspect.code_dir,
            deadline=self._deadline,
            keep=keep,
        )

    def _wrong(self, outputs: Sequence[Array]) -> list[int]:
        """Return the indices of the wrong outputs."""
        limits = [*self._suspect.limits, *([0.0] * len(outputs))]
        return [
            at
            for at, (want, have) in enumerate(zip(self._expected, outputs, strict=False))
            if error_of(want, have) * _peak(want) > limits[at]
        ]

    def _search_file(self, eager: Trace, wrong: Sequence[int]) -> Blame:
        file = self._file.trace()
        tolerance = self._tolerance(file, eager, wrong)
        view = View(file, eager, tolerance, wrong)
        if not view.mine:
            return Blame(why_not="every recorded value matches")
        pair, value = self._prove(view, view.pairs(MAX_PROOFS))
        if pair is not None:
            strict = View(file, eager, tolerance, wrong, strict=True)
            if len(strict.nodes(pair)) > len(view.nodes(pair)):
                earlier, other = self._prove(strict, strict.pairs(MAX_PROOFS // 2, pair))
                if earlier is not None:
                    view, pair, value = strict, earlier, other
        nodes = view.nodes(pair)
        if not nodes:
            return Blame(why_not="no single node could be identified")
        return self._add_repro(self._describe(view, pair, nodes), nodes, view, pair, value)

    def _tolerance(self, file: Trace, eager: Trace, wrong: Sequence[int]) -> float:
        """Return the relative error up to which values match: less for small output errors."""
        prints = [*eager.prints.values(), *eager.given.values(), *file.prints.values()]
        floors = {UNCALIBRATED.get(item.dtype, 0.0) for item in prints if item.is_float}
        # In eager, bytes are saved for the backward pass only.
        if any(item.dtype in {"int8", "uint8"} for item in file.prints.values()):
            floors.add(QUANTIZED)
        floor = max(floors, default=0.0) or UNCALIBRATED["float32"]
        off = [
            distance(file.prints[file.outputs[at]], eager.prints[eager.outputs[at]])
            for at in wrong
            if at < len(eager.outputs)
            and file.outputs[at] in file.prints
            and eager.outputs[at] in eager.prints
        ]
        return min(floor, max(floor, min(off, default=1.0)) * _FINEST)

    def _prove(self, view: View, pairs: Sequence[Pair]) -> tuple[Pair | None, Array | None]:
        """Return the first pair for which eager's value makes the next values correct."""
        kept = self._keep(view, pairs)
        for pair in pairs:
            if pair.theirs in kept and busy_seconds() < self._deadline - _FOR_THE_REPRO:
                print_ = view.file.prints[pair.mine]
                value = kept[pair.theirs].reshape(print_.shape).astype(dtype_of(print_))
                if self._confirms(view, pair, value):
                    return view.skip_unchanged(pair), value
        return None, None

    def _keep(self, view: View, pairs: Sequence[Pair]) -> dict[int, Array]:
        """Return eager's values, as many as fit into memory."""
        wanted: list[int] = []
        taken = 0
        for value in dict.fromkeys(pair.theirs for pair in pairs):
            taken += view.eager.prints[value].size * 8
            if taken > _KEPT_BYTES:
                break
            wanted.append(value)
        return self._eager(keep=wanted)[1] if wanted else {}

    def _confirms(self, view: View, pair: Pair, value: Array) -> bool:
        """Return whether the next values of the file are correct once this one is eager's."""
        if view.is_output(pair):
            return True
        watched = view.behind(pair.mine, _WATCHED)
        names = [self._file.names[number] for number in watched]
        if not names:
            return False
        try:
            found = self._file.fetch_patched(self._file.names[pair.mine], value, names)
        except ExportFailure:  # a value that does not fit is no counterpart
            return False
        return any(
            view.confirms(pair, number, fingerprint(found[name]))
            for number, name in zip(watched, names, strict=True)
            if name in found
        )

    def _describe(self, view: View, pair: Pair | None, nodes: Sequence[int]) -> Blame:
        step = view.file.steps[view.chosen(nodes)]
        op = view.op_of(step, pair)
        return Blame(
            node=step.name,
            op=step.op,
            aten=op.op if op else "",
            module=(op.module if op else step.module) or "",
            source=op.source if op else "",
            error_before=view.error_before(nodes),
            proven=pair is not None,
            among=tuple(view.file.steps[at].name for at in nodes) if len(nodes) > 1 else (),
        )

    def _add_repro(
        self,
        blame: Blame,
        nodes: Sequence[int],
        view: View,
        pair: Pair | None,
        value: Array | None,
    ) -> Blame:
        """Add the error after the nodes, and the files that reproduce it."""
        file = self._file
        if pair is not None and value is not None:
            expected = {file.names[pair.mine]: value}
        else:  # nothing in eager corresponds: extend the region to an output
            at = view.wrong[0]
            expected = {file.output_names[at]: self._expected[at]}
            nodes = match.region(view.file, view.mine, view.file.outputs[at])
        right = {file.names[number] for number in (*view.right, *view.file.given)}
        taken, fed = repro.needed(file.model, nodes, right)
        values = file.fetch(list(dict.fromkeys([*expected, *(set(fed) - set(file.feed))])))
        if pair is not None:
            off = max(error_of(want, values[name]) for name, want in expected.items())
            blame = replace(blame, error_after=off)
        inputs = {name: values[name] if name in values else file.feed[name] for name in fed}
        cut = repro.Cut(tuple(taken), inputs, expected)
        try:
            files = repro.build(file.model, file.path.parent, cut, f"It {blame.sentence()}.")
        except repro.NoRepro as reason:
            return replace(blame, no_repro=str(reason))
        return replace(blame, repro=files)


def _peak(array: Array) -> float:
    """Return the peak that `error_of` divides by; 1 for zeros."""
    values = np.abs(np.asarray(array).astype(np.float64))
    peak = float(values[np.isfinite(values)].max(initial=0.0))
    return peak or 1.0


def dtype_of(print_: Fingerprint) -> np.dtype[Any]:
    """Return numpy's dtype of a value; bfloat16 is not numpy's own."""
    return np.dtype(ml_dtypes.bfloat16 if print_.dtype == "bfloat16" else print_.dtype)
