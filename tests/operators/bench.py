"""Calls of an operator through the product's own pipeline and through bare torch.onnx.export."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from fuzz.bench import Lines
from fuzz.judge import answers, compare, declared_shapes, open_session
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Exporter
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from operators import module as modules
from operators.entries import Call, calls, spread
from operators.results import Case, Outcome, Result
from operators.usable import examine

TOGETHER = 24
"""Calls that one file makes; where it is not right, each has a file of its own."""
MOST_INPUTS = 64
"""Of a manifest."""
SEEDS = range(10_001, 10_005)
"""Of the inputs that judge a file: the verification draws others."""
SEEN = range(4)
"""Of inputs for which eager, too, is asked whether a dim can have several sizes."""


def check(cases: Sequence[Case], samples: int) -> Iterator[Result]:
    """Yield the result of each call of these cases, of so many samples of each at most."""
    usable = []
    for call in (call for case in cases for call in spread(calls(case, 0), samples)):
        found = examine(call, (*SEEN, *SEEDS))
        if isinstance(found, Call):
            usable.append(found)
        else:
            yield Result(call.case, call.place, found, "", found)
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
    manifest = modules.manifest(group, directory, exporter)
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
                model,
                tuple(inputs.values()),
                path,
                input_names=list(inputs),
                dynamic_shapes=_dynamic_shapes(group),
                dynamo=True,
            )
        text = _differs(group, model, path)
    except Exception as error:  # noqa: BLE001 - whatever the exporter raises
        return Outcome.REFUSED, type(error).__name__
    return (Outcome.WRONG if text else Outcome.RIGHT), text


def _dynamic_shapes(group: Sequence[Call]) -> dict[str, dict[int, torch.export.Dim]] | None:
    """Return the dynamic dims as torch.export names them; None without one."""
    dims = {
        name: torch.export.Dim(name, min=dynamic.smallest, max=dynamic.largest)
        for name, dynamic in modules.dims_of(group).items()
    }
    if not dims:
        return None
    return {
        name: {axis: dims[dim] for axis, dim in enumerate(shape) if isinstance(dim, str)}
        for name, shape in modules.shapes_of(group).items()
    }


def _differs(group: Sequence[Call], model: torch.nn.Module, path: Path) -> str:
    """Return what differs on inputs that were drawn anew; empty if nothing does."""
    places = modules.places_of(group)
    session, shapes = open_session(path), declared_shapes(path)
    for seed in SEEDS:
        inputs = modules.drawn(places, modules.sizes_of(group, seed), seed)
        want = answers(model, inputs)
        if want is None:
            continue
        text = compare(model, session, inputs, want, shapes)
        if text:
            return text
    return ""


@contextmanager
def _quiet() -> Iterator[None]:
    with (
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
