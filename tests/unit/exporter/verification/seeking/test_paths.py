"""Paths of runs, and sizes at which a model takes another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest
import torch

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.paths import (
    MOST_CONSTANTS,
    Path,
    Paths,
    RecordedPath,
)
from modelexport_exporter.verification.seeking.size_paths import SizePaths

X, ZEROS = torch.ones(3), torch.zeros(7)


def path_of(run: Callable[[], object]) -> Path:
    recorded = RecordedPath()
    with recorded:
        run()
    return recorded.path


def paths_of(*runs: Callable[[], object]) -> Paths:
    paths = Paths()
    for run in runs:
        paths.add(path_of(run))
    return paths


@pytest.mark.parametrize(
    "run",
    [
        lambda: X * 3,
        lambda: X + 2,
        lambda: X * 2 + 1,
        lambda: X * torch.tensor(2.5),
    ],
)
def test_another_op_or_constant_is_a_new_path(run: Callable[[], object]) -> None:
    paths = paths_of(lambda: X * 2, lambda: X * torch.tensor(2.0))
    assert paths.is_new(path_of(run))
    paths.add(path_of(run))
    assert not paths.is_new(path_of(run))


def test_packed_weights_are_no_constants() -> None:
    weight = torch.quantize_per_tensor(torch.ones(3, 3), 0.1, 0, torch.qint8)
    packed = torch.ops.quantized.linear_prepack(weight)
    run = partial(torch.ops.quantized.linear_dynamic, X[None], packed)
    assert not paths_of(run).is_new(path_of(run))


def test_the_values_of_inputs_are_no_constants() -> None:
    paths = paths_of(lambda: X * 2)
    assert not paths.is_new(path_of(lambda: ZEROS * 2))


def test_a_constant_that_varies_depends_on_sizes() -> None:
    paths = paths_of(*(lambda n=n: X * n for n in range(MOST_CONSTANTS)))
    assert not paths.is_new(path_of(lambda: X * 99))


class Rule(torch.nn.Module):
    """Doubles at the sizes of one rule."""

    def __init__(self, holds: Callable[[int, int], bool]) -> None:
        super().__init__()
        self.holds = holds

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        scale = {True: 2.0}.get(self.holds(x.shape[0], y.shape[0]), 1.0)
        return x.sum() * scale + y.sum()


SPEC = {
    "source": {"uri": "file:///model.pt"},
    "model": {"factory": "a:b"},
    "inputs": [{"name": "x", "shape": ["n"]}, {"name": "y", "shape": ["m"]}],
    "dims": {"n": {"min": 1, "max": 60}, "m": {"min": 1, "max": 60}},
    "destination": {"uri": "file:///out/"},
}


def found_by(holds: Callable[[int, int], bool]) -> list[Mapping[str, int]]:
    """Return the sizes of new paths, after a comparison at other sizes."""
    bound = bind_inputs(ModelExportSpec.model_validate(SPEC), Rule(holds), None)
    paths = Paths()
    reference = EagerReference(Rule(holds), bound.call)
    given = {"x": torch.ones(3), "y": torch.ones(5)}
    recorded = RecordedPath()
    with torch.inference_mode(), recorded:
        reference.call(given)
    paths.add(recorded.path)
    found: list[Mapping[str, int]] = []
    samples = SampleSource(bound.spec)
    seeker = SizePaths(samples, reference, paths, lambda: 0.0)
    seeker.seek(samples.many_sizes(), lambda one: found.append(one.dims), lambda: False)
    return found


@pytest.mark.parametrize(
    "holds",
    [lambda n, m: n * m == 391, lambda n, m: abs(n / m - 0.618) < 2e-4, lambda n, m: n == 51 != m],
)
def test_a_rule_for_few_sizes_is_found(holds: Callable[[int, int], bool]) -> None:
    found = found_by(holds)
    assert len(found) == 1
    assert holds(found[0]["n"], found[0]["m"])


def test_no_size_is_compared_without_a_rule() -> None:
    assert found_by(lambda _n, _m: False) == []
