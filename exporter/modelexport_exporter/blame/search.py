"""The search for the node to blame: record both sides, match, suspect, prove, and cut out a repro.

The proof: eager's value in place of a suspected one, and what the file computes from it agrees with
eager again. Then the fault lies between the values that agree and this one, and nowhere else that
matters here; it also works where a model has the same fault many times.
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
from modelexport_exporter.blame.record_eager import TooMuchToLookAt, record_eager
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
"""Of this process's own time: what others take of the machine does not count."""
MOST_PROOFS = 24
_WATCHED = 12
"""How many values behind a replaced one are looked at."""
_FOR_THE_REPRO = 10.0
_KEPT_BYTES = 256 << 20
QUANTIZED = 5e-2
"""The error up to which two values agree in a file that computes with bytes, relative to the peak;
in other files `UNCALIBRATED` of the coarsest dtype, as for outputs."""
_FINEST = 0.1
"""Where outputs are off by little, values must agree this much better."""


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
    """Return what is to blame. Never raises: the mismatch itself must be told whatever happens."""
    try:
        return _Search(suspect).blame()
    except TooMuchToLookAt as reason:
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
        """Return the blame; with onnxruntime's optimizations where only they make it wrong."""
        eager, _ = self._eager()
        outputs = self._file.outputs()
        if not len(outputs) == len(self._expected) == len(self._file.output_names):
            return Blame(why_not="the file does not return one tensor for each that eager returns")
        wrong = self._wrong(outputs)
        if wrong:
            return self._in_file(eager, wrong)
        dump = self._suspect.path.with_name("optimized.onnx")
        try:
            level = level_to_blame(self._file, lambda outputs: not self._wrong(outputs), dump)
            if not level:
                return Blame(why_not=self._agrees_alone())
            return replace(self._in_optimized(eager, dump), optimization=level)
        finally:
            dump.unlink(missing_ok=True)

    def _agrees_alone(self) -> str:
        asked = self._suspect.runtime.provider
        if asked is Provider.TENSORRT:
            return "on CUDA the file agrees: what TensorRT makes of it is to blame"
        return "the file agreed when it ran once more"

    def _in_optimized(self, eager: Trace, dump: Path) -> Blame:
        """Look at the file that onnxruntime made of it."""
        original = self._file
        try:
            self._file = File(dump, original.runtime, original.feed, self._deadline)
            wrong = self._wrong(self._file.outputs())
            return self._in_file(eager, wrong) if wrong else Blame()
        except Exception:  # noqa: BLE001 - the level alone is worth telling
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
        """Return which outputs are wrong."""
        limits = [*self._suspect.limits, *([0.0] * len(outputs))]
        return [
            at
            for at, (want, have) in enumerate(zip(self._expected, outputs, strict=False))
            if error_of(want, have) * _peak(want) > limits[at]
        ]

    def _in_file(self, eager: Trace, wrong: Sequence[int]) -> Blame:
        file = self._file.trace()
        tolerance = self._tolerance(file, eager, wrong)
        view = View(file, eager, tolerance, wrong)
        if not view.mine:
            return Blame(why_not="every value that could be looked at agrees")
        pair, value = self._prove(view, view.pairs(MOST_PROOFS))
        if pair is not None:
            strict = View(file, eager, tolerance, wrong, strict=True)
            if len(strict.nodes(pair)) > len(view.nodes(pair)):
                earlier, other = self._prove(strict, strict.pairs(MOST_PROOFS // 2, pair))
                if earlier is not None:
                    view, pair, value = strict, earlier, other
        nodes = view.nodes(pair)
        if not nodes:
            return Blame(why_not="no node could be told apart from the others")
        return self._with_repro(self._named(view, pair, nodes), nodes, view, pair, value)

    def _tolerance(self, file: Trace, eager: Trace, wrong: Sequence[int]) -> float:
        """Return the error up to which values agree: finer where the outputs are off by little."""
        prints = [*eager.prints.values(), *eager.given.values(), *file.prints.values()]
        floors = {UNCALIBRATED.get(item.dtype, 0.0) for item in prints if item.is_float}
        # Eager's bytes are notes for a backward pass.
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
        """Return the first pair whose value of eager's makes right what comes next in the file."""
        kept = self._keep(view, pairs)
        for pair in pairs:
            if pair.theirs in kept and busy_seconds() < self._deadline - _FOR_THE_REPRO:
                print_ = view.file.prints[pair.mine]
                value = kept[pair.theirs].reshape(print_.shape).astype(dtype_of(print_))
                if self._heals(view, pair, value):
                    return view.behind_idle(pair), value
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

    def _heals(self, view: View, pair: Pair, value: Array) -> bool:
        """Tell whether what comes next in the file is right once this value is eager's."""
        if view.is_output(pair):
            return True
        watched = view.behind(pair.mine, _WATCHED)
        names = [self._file.names[number] for number in watched]
        if not names:
            return False
        try:
            found = self._file.patched(self._file.names[pair.mine], value, names)
        except ExportFailure:  # a value that does not fit there is no counterpart
            return False
        return any(
            view.heals(pair, number, fingerprint(found[name]))
            for number, name in zip(watched, names, strict=True)
            if name in found
        )

    def _named(self, view: View, pair: Pair | None, nodes: Sequence[int]) -> Blame:
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

    def _with_repro(
        self,
        blame: Blame,
        nodes: Sequence[int],
        view: View,
        pair: Pair | None,
        value: Array | None,
    ) -> Blame:
        """Add the error behind the nodes, and the files that show it."""
        file = self._file
        if pair is not None and value is not None:
            expected = {file.names[pair.mine]: value}
        else:  # nothing in eager corresponds: go on to an output
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
    """Return what an error is relative to, so that the product is the error itself."""
    values = np.abs(np.asarray(array).astype(np.float64))
    peak = float(values[np.isfinite(values)].max(initial=0.0))
    return peak or 1.0


def dtype_of(print_: Fingerprint) -> np.dtype[Any]:
    """Return numpy's dtype of a value; bfloat16 is not numpy's own."""
    return np.dtype(ml_dtypes.bfloat16 if print_.dtype == "bfloat16" else print_.dtype)
