"""Weights that the spec names because only the checkpoint, or only the module, has them."""

from __future__ import annotations

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.load import build_with_weights
from modelexport_exporter.checkpoint.weight_patterns import as_patterns, matching
from modelexport_exporter.core.errors import ExportFailure


class Net(torch.nn.Module):
    """A layer, and a table that forward needs."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.register_buffer("table", torch.arange(4.0))


def state(**more: torch.Tensor) -> dict[str, torch.Tensor]:
    layer = {"layer.weight": torch.ones(2, 3), "layer.bias": torch.ones(2)}
    return {**layer, "table": torch.zeros(4), **more}


HEAD = {"head.weight": torch.ones(5, 2), "head.bias": torch.ones(5)}


def test_what_the_checkpoint_has_more_is_left_out_and_reported() -> None:
    module, findings = build_with_weights(Net, state(**HEAD), unused=["head.*"])
    assert torch.equal(module.table, torch.zeros(4))  # type: ignore[arg-type]
    ((requested, obtained),) = ((own.requested, own.obtained) for own in findings)
    assert requested == "2 tensors more in the checkpoint (head.bias, head.weight)"
    assert "source.unusedWeights" in obtained


def test_what_the_checkpoint_lacks_keeps_the_values_of_the_factory() -> None:
    given = {name: value for name, value in state().items() if name != "table"}
    module, (finding,) = build_with_weights(Net, given, from_factory=["table"])
    assert torch.equal(module.table, torch.arange(4.0))  # type: ignore[arg-type]
    assert torch.equal(module.layer.weight, torch.ones(2, 3))  # type: ignore[union-attr, arg-type]
    assert finding.requested == "1 tensor that the checkpoint lacks (table)"


def test_weights_that_both_have_are_loaded_whatever_the_patterns() -> None:
    module, findings = build_with_weights(Net, state(), unused=["*"], from_factory=["*"])
    assert torch.equal(module.table, torch.zeros(4))  # type: ignore[arg-type]
    assert findings == ()


def test_patterns_are_names_as_the_checkpoint_has_them() -> None:
    wrapped = {f"net.{name}": value for name, value in state().items()}
    module, findings = build_with_weights(Net, {**wrapped, **HEAD}, unused=["head.*"])
    assert torch.equal(module.layer.bias, torch.ones(2))  # type: ignore[union-attr, arg-type]
    assert [own.subject for own in findings] == ["weights", "weights"]


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (state(**HEAD), "does not need them, set source.unusedWeights: [head.*]"),
        (
            {"layer.weight": torch.ones(2, 3), "layer.bias": torch.ones(2)},
            "factoryWeights: [table]",
        ),
        ({"other.weight": torch.ones(2, 3)}, "source.stateDictKey"),
    ],
)
def test_advice_names_the_patterns(given: dict[str, torch.Tensor], advice: str) -> None:
    with pytest.raises(ExportFailure) as raised:
        build_with_weights(Net, given)
    assert raised.value.reason is Reason.STATE_DICT_MISMATCH
    assert advice in raised.value.hint


@pytest.mark.parametrize(
    ("names", "patterns"),
    [
        (["head.weight", "head.bias"], "[head.*]"),
        (["scale"], "[scale]"),
        (["mel.window", "scale"], "[mel.window, scale]"),
        (["head.weight", "head.bias", "head.norm.weight", "head.norm.bias"], "[head.*]"),
        ([f"aux.{layer}.weight" for layer in range(6)], "[aux.*]"),
    ],
)
def test_names_become_patterns(names: list[str], patterns: str) -> None:
    assert as_patterns(names) == patterns
    assert matching(names, patterns.strip("[]").split(", ")) == names
