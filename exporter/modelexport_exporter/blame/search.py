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
from modelexport_exporter.blame.tolerances import tolerances
from modelexport_exporter.blame.trace import Trace
from modelexport_exporter.blame.view import Pair, View
from modelexport_exporter.call import Call, flatten
from modelexport_exporter.call.tensors import to_array, to_tensor
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.machine import busy_seconds

SECONDS = 60.0
"""CPU time of this process; time of other processes does not count."""
MAX_PROOFS = 24
_WATCHED = 12
"""Number of values after a replaced one that are compared."""
_FEW_NODES = 3
"""A proof of at most so many is not sought again with a coarser tolerance: a cast and its twin."""
_FOR_THE_REPRO = 10.0
_KEPT_BYTES = 256 << 20


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


@dataclass(frozen=True)
class _Found:
    """The result of the search at one tolerance."""

    view: View
    pair: Pair | None
    """The proof; None where nothing is proven."""
    value: Array | None
    """Eager's value of the pair."""
    nodes: Sequence[int]
    """The steps of the file that may have the fault."""


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
        found: _Found | None = None
        for tolerance in self._tolerances(file, eager, wrong):
            found = self._found(View(file, eager, tolerance, wrong)) or found
            if found is not None and len(found.nodes) <= _FEW_NODES:
                break
        if found is not None:
            return self._add_repro(self._describe(found), found)
        view = View(file, eager, tolerance, wrong)
        if not view.mine:
            return Blame(why_not="every recorded value matches")
        if not (nodes := view.nodes(None)):
            return Blame(why_not="no single node could be identified")
        unproven = _Found(view, None, None, nodes)
        return self._add_repro(self._describe(unproven), unproven)

    def _found(self, view: View) -> _Found | None:
        """Return the nodes whose fault is proven, at the tolerance of this view."""
        pair, value = self._prove(view, view.pairs(MAX_PROOFS))
        if pair is None:
            return None
        strict = View(view.file, view.eager, view.tolerance, view.wrong, strict=True)
        if len(strict.nodes(pair)) > len(view.nodes(pair)):
            earlier, other = self._prove(strict, strict.pairs(MAX_PROOFS // 2, pair))
            if earlier is not None:
                view, pair, value = strict, earlier, other
        nodes = view.nodes(pair)
        found = _Found(view, pair, value, nodes)
        if len(nodes) == 1:
            return self._missing_before(found) or found
        return found if nodes else None

    def _missing_before(self, found: _Found) -> _Found | None:
        """Return the step before, if this one is right once it reads what eager's op reads."""
        view, pair = found.view, found.pair
        assert pair is not None
        pairs = view.misread(found.nodes[0], pair)
        kept = self._keep(view, pairs)
        names = self._file.names
        for before in pairs:
            if before.theirs not in kept or busy_seconds() > self._deadline - _FOR_THE_REPRO:
                continue
            value = self._as_mine(view, before, kept)
            after = self._file.fetch_patched(names[before.mine], value, [names[pair.mine]])
            print_ = fingerprint(after[names[pair.mine]])
            if distance(view.eager.prints[pair.theirs], print_) <= view.tolerance:
                return _Found(view, before, value, [view.producer_of(before)])
        return None

    def _tolerances(self, file: Trace, eager: Trace, wrong: Sequence[int]) -> list[float]:
        """Return the relative errors up to which values match, in the order of the attempts."""
        recorded = (*file.prints.values(), *eager.prints.values(), *eager.given.values())
        pairs = [(file.outputs[at], eager.outputs[at]) for at in wrong if at < len(eager.outputs)]
        off = [
            distance(file.prints[mine], eager.prints[theirs])
            for mine, theirs in pairs
            if mine in file.prints and theirs in eager.prints
        ]
        limits = self._suspect.limits
        allowed = [limits[at] / _peak(self._expected[at]) for at in wrong if at < len(limits)]
        # In eager, bytes are saved for the backward pass only.
        quantized = any(item.dtype in {"int8", "uint8"} for item in file.prints.values())
        floats = {item.dtype for item in recorded if item.is_float}
        return tolerances(floats, off, allowed, quantized=quantized)

    def _prove(self, view: View, pairs: Sequence[Pair]) -> tuple[Pair | None, Array | None]:
        """Return the first pair for which eager's value makes the next values correct."""
        kept = self._keep(view, pairs)
        for pair in pairs:
            if pair.theirs in kept and busy_seconds() < self._deadline - _FOR_THE_REPRO:
                value = self._as_mine(view, pair, kept)
                if self._confirms(view, pair, value):
                    return view.skip_unchanged(pair), value
        return None, None

    @staticmethod
    def _as_mine(view: View, pair: Pair, kept: Mapping[int, Array]) -> Array:
        """Return eager's value in the shape and dtype of the file's."""
        print_ = view.file.prints[pair.mine]
        return kept[pair.theirs].reshape(print_.shape).astype(dtype_of(print_))

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

    def _describe(self, found: _Found) -> Blame:
        view, pair, nodes = found.view, found.pair, found.nodes
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

    def _add_repro(self, blame: Blame, found: _Found) -> Blame:
        """Add the error after the nodes, and the files that reproduce it."""
        file, view, nodes = self._file, found.view, found.nodes
        pair, value = found.pair, found.value
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
