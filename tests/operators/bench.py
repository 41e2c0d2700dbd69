"""Calls of an operator through the product's own pipeline and through bare torch.onnx.export."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import torch

from fuzz.bench import Lines
from fuzz.judge import answers, compare, declared_shapes, open_session
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Exporter
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from operators import module as modules
from operators.entries import Call, Case, calls, spread

TOGETHER = 24
"""Calls that one file makes; where it is not right, each has a file of its own."""
MOST_INPUTS = 64
"""Of a manifest."""
UNINITIALISED = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
)
"""Entries that return memory as it is."""
SEEDS = range(10_001, 10_005)
"""Of the inputs that judge a file: the verification draws others."""


class Outcome(StrEnum):
    """How a call ends."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"
    RANDOM = "random"
    """Eager draws random numbers, or returns memory as it is: nothing can be verified."""
    NO_TENSOR = "no tensor"
    """Eager returns something that is no tensor of real numbers."""
    NO_EAGER = "no eager"
    """Eager itself raises an error on a CPU."""
    NO_ELEMENTS = "no elements"
    """Eager returns tensors without elements, or of NaN alone: there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a call ended: with the product, and with bare `torch.onnx.export`."""

    case: Case
    place: int
    outcome: Outcome
    why: str
    bare: Outcome


def check(cases: Sequence[Case], samples: int) -> Iterator[Result]:
    """Yield the result of each call of these cases, of so many samples of each at most."""
    usable = []
    for call in (call for case in cases for call in spread(calls(case, 0), samples)):
        unusable = _why_unusable(call)
        if unusable is None:
            usable.append(call)
        else:
            yield Result(call.case, call.place, unusable, "", unusable)
    for group in _groups(usable):
        ours, bare = _each(group, _ours), _each(group, _bare)
        for call, (outcome, why), (beside, _) in zip(group, ours, bare, strict=True):
            yield Result(call.case, call.place, outcome, why, beside)


def _groups(usable: Sequence[Call]) -> Iterator[Sequence[Call]]:
    """Yield calls that share a file: a manifest has 64 inputs at most."""
    group: list[Call] = []
    for call in usable:
        if len(group) == TOGETHER or len(modules.feed([*group, call])) > MOST_INPUTS:
            yield group
            group = []
        group.append(call)
    if group:
        yield group


Answer = tuple[Outcome, str]
"""How a file ended, and why it is not right."""


def _each(group: Sequence[Call], check: Callable[[Sequence[Call], Path], Answer]) -> list[Answer]:
    """Return how each call ends: in one file, or in files of halves where that is not right."""
    with TemporaryDirectory(prefix="operator-") as place:
        answer = check(group, Path(place))
    if len(group) == 1 or answer[0] is Outcome.RIGHT:
        return [answer] * len(group)
    half = len(group) // 2
    return [*_each(group[:half], check), *_each(group[half:], check)]


def _ours(group: Sequence[Call], directory: Path) -> Answer:
    (directory / "code").mkdir()
    model = modules.write(group, directory / "code" / "model.py")
    torch.save(model.state_dict(), directory / "model.pt")
    # A call alone has all ways; what they cost, several together would pay in vain.
    exporter = Exporter.AUTO if len(group) == 1 else Exporter.DYNAMO
    manifest = modules.manifest(modules.feed(group), directory, exporter)
    resource = ModelExport.model_validate(manifest)
    result = run(resource, Settings(directory / "work"), Lines())
    if result.failure is not None:
        failure = result.failure
        return Outcome.REFUSED, f"{failure.reason.value}: {failure.message}"[:600]
    text = _differs(group, model, directory / "out" / "model.onnx")
    return (Outcome.WRONG if text else Outcome.RIGHT), text


def _bare(group: Sequence[Call], directory: Path) -> Answer:
    model = modules.write(group, directory / "model.py")
    inputs, path = modules.feed(group), directory / "bare.onnx"
    try:
        with _quiet():
            torch.onnx.export(
                model, tuple(inputs.values()), path, input_names=list(inputs), dynamo=True
            )
        text = _differs(group, model, path)
    except Exception as error:  # noqa: BLE001 - whatever the exporter raises
        return Outcome.REFUSED, type(error).__name__
    return (Outcome.WRONG if text else Outcome.RIGHT), text


def _differs(group: Sequence[Call], model: torch.nn.Module, path: Path) -> str:
    """Return what differs on inputs that were drawn anew; empty if nothing does."""
    places = modules.places_of(group)
    session, shapes = open_session(path), declared_shapes(path)
    for seed in SEEDS:
        inputs = modules.drawn(places, seed)
        want = answers(model, inputs)
        if want is None:
            continue
        text = compare(model, session, inputs, want, shapes)
        if text:
            return text
    return ""


def _why_unusable(call: Call) -> Outcome | None:
    """Return why a call cannot be exported by anybody; None if it can."""
    if call.case.name in UNINITIALISED:
        return Outcome.RANDOM
    with TemporaryDirectory(prefix="operator-") as place:
        model = modules.write([call], Path(place) / "model.py")
    given = [tensor.clone() for tensor in modules.feed([call]).values()]
    torch.manual_seed(1)
    before = torch.get_rng_state()
    # Entries of random operators set a seed themselves, and restore the generator.
    with (
        mock.patch.object(torch, "manual_seed") as seeded,
        torch.no_grad(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            leaves = torch.utils._pytree.tree_leaves(model(*given))
        except (RuntimeError, AssertionError):
            # as_strided reads beyond the elements of a copy; the jiterator needs a GPU.
            return Outcome.NO_EAGER
    if not leaves or not all(_is_real(leaf) for leaf in leaves):
        return Outcome.NO_TENSOR
    if all(leaf.isnan().all() for leaf in leaves):
        return Outcome.NO_ELEMENTS
    untouched = torch.equal(before, torch.get_rng_state()) and not seeded.called
    return None if untouched else Outcome.RANDOM


def _is_real(value: object) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.layout is torch.strided
        and not value.is_complex()
        and not value.is_quantized
    )


@contextmanager
def _quiet() -> Iterator[None]:
    with (
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
