"""What is sought beside the samples leaves the model as it was, and asks only for what can vary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.core.comparison import OutputComparison, SampleComparison
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.completeness import Completeness
from modelexport_exporter.verification.seeking.frozen_code import Branches

X = np.linspace(0.1, 0.9, 6, dtype=np.float32).reshape(2, 3)
SPEC = {
    "source": {"uri": "file:///model.pt"},
    "model": {"factory": "a:b"},
    "inputs": [{"name": "x", "shape": ["batch", 3], "range": [0, 1]}],
    "dims": {"batch": {"max": 4}},
    "destination": {"uri": "file:///out/"},
}
SAME = SampleComparison({"batch": 2}, 0, (OutputComparison("y", 0.0, 0.0, 1e-6),))


class Restarts(nn.Module):
    """Initializes itself where no input leads."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Buffer(torch.full((3,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.min() < 0:
            self.scale.zero_()
        return x * self.scale


class Fitted(nn.Module):
    """A codebook that is fitted at the first call, if no checkpoint says that it was."""

    def __init__(self) -> None:
        super().__init__()
        self.fitted = nn.Buffer(torch.BoolTensor([True]))
        self.codes = nn.Buffer(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.fitted:
            self.codes.copy_(x[0])
        return x * self.codes


def sought(module: nn.Module) -> tuple[EagerReference, list[str]]:
    """Return the reference after the search, and what was not compared."""
    bound = bind_inputs(ModelExportSpec.model_validate(SPEC), module, None)
    reference = EagerReference(module, bound.call)
    samples = SampleSource(bound.spec)
    here = Path(__file__).parent
    completeness = Completeness(
        samples, reference, branches=Branches.ONE_SIDE, code_dir=here, clock=lambda: 0.0
    )
    reference.run({"x": X}, "a sample")
    completeness.seek([SAME], lambda _found: None, None)
    return reference, [entry.subject for entry in completeness.not_compared()]


def test_a_side_that_no_input_takes_does_not_change_the_model() -> None:
    reference, missing = sought(Restarts())
    assert len(missing) == 1
    assert "if x.min() < 0:" in missing[0]
    (after,) = reference.run({"x": X}, "the same")
    np.testing.assert_array_equal(after, 2 * X)


def test_a_flag_in_a_buffer_has_no_other_side() -> None:
    _, missing = sought(Fitted())
    assert missing == []
