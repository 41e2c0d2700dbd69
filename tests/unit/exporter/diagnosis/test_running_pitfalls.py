"""What runs differently the second time, or elsewhere, is seen by running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from modelexport_exporter.call import bind_inputs
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.running import running_pitfalls
from modelexport_exporter.diagnosis.tracing import Flattened, trace
from zoo.code import pitfalls as zoo
from zoo.tasks import CODE, spec_for

ROWS: list[dict[str, Any]] = [{"name": "x", "shape": ["batch", 4]}]


def found(model: nn.Module, inputs: list[dict[str, Any]] | None = None) -> tuple[Pitfall, ...]:
    spec = spec_for("pitfalls:any", inputs=inputs or ROWS)
    return running_pitfalls(model, bind_inputs(spec, model, CODE), CODE)


def line_of(text: str) -> str:
    lines = (CODE / "pitfalls.py").read_text().splitlines()
    return f"pitfalls.py:{next(n for n, line in enumerate(lines, 1) if text in line)}"


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (zoo.BranchesOnData(), "if x.sum() > 0:"),
        (zoo.Item(), "scale = x.max().item()"),
        (zoo.Retensored(), "y = torch.tensor(float(x.sum()))"),
        (zoo.BranchesOnSize(), "if x.shape[0] > 4:"),
        (zoo.LoopsUntil(), "while x.sum() < 100:"),
        (zoo.LoopsOverTensor(), "for row in x:"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_a_trace_that_is_right_at_its_own_inputs_only(model: nn.Module, line: str) -> None:
    pitfalls = found(model)
    assert {pitfall.kind for pitfall in pitfalls} == {PitfallKind.BAKED}
    assert line_of(line) in {pitfall.source for pitfall in pitfalls}


@pytest.mark.parametrize(
    ("model", "line", "error"),
    [
        (zoo.CatchesIndexError(), "found = self.table[rows]", "IndexError: index"),
        (zoo.CatchesAnything(), "factor = torch.linalg.cholesky(square)", "LinAlgError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_an_error_that_forward_catches(model: nn.Module, line: str, error: str) -> None:
    (pitfall,) = found(model)
    assert (pitfall.kind, pitfall.source) == (PitfallKind.BAKED, line_of(line))
    assert error in pitfall.message


def test_a_trace_is_not_begun_where_forward_catches_an_error() -> None:
    rows = torch.full((2, 4), 5.0)
    with pytest.raises(ExportFailure, match=r"IndexError: index .* self.table\[rows\]"):
        trace(Flattened(zoo.CatchesIndexError(), (rows,), {}))


class FixedRows(nn.Module):
    """Its number of rows is a constant of a trace."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(int(x.shape[0]) * 4)


def test_what_a_trace_raises_elsewhere_is_named_without_its_stack() -> None:
    spec = spec_for("pitfalls:any", inputs=ROWS)
    model = FixedRows()
    (pitfall,) = running_pitfalls(model, bind_inputs(spec, model, CODE), Path(__file__).parent)
    assert "the graph of the capture fails (RuntimeError: shape '[" in pitfall.message
    assert ".py(" not in pitfall.message


@pytest.mark.parametrize("model", [zoo.Noise(), zoo.AlwaysDrops(), zoo.PythonNoise()])
def test_random_numbers(model: nn.Module) -> None:
    assert [pitfall.kind for pitfall in found(model.eval())] == [PitfallKind.NOT_DETERMINISTIC]


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (zoo.Gumbel(), "F.gumbel_softmax"),
        (zoo.SeededNoise(), "return x + torch.randn(x.shape)  # Random"),
    ],
)
def test_draws_of_libraries_and_after_a_seed_are_seen(model: nn.Module, line: str) -> None:
    (pitfall,) = found(model)
    assert pitfall.kind is PitfallKind.NOT_DETERMINISTIC
    assert pitfall.source.startswith("pitfalls.py:")
    number = int(pitfall.source.rpartition(":")[2])
    assert line in (CODE / "pitfalls.py").read_text().splitlines()[number - 1]


def test_numbers_that_no_output_depends_on_are_no_pitfall() -> None:
    assert found(zoo.UnusedNoise()) == ()


def draw_rows(sizes: dict[str, int], seed: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    return {"x": torch.randn(sizes["batch"], 4)}


def test_numbers_that_the_users_sampler_draws_are_no_pitfall() -> None:
    spec = spec_for("pitfalls:any", inputs=ROWS)
    sampler = spec.verification.model_copy(update={"sampler": f"{__name__}:draw_rows"})
    model = nn.Linear(4, 4)
    bound = bind_inputs(spec.model_copy(update={"verification": sampler}), model, CODE)
    assert bound.call.example({"batch": 3}, seed=5)[0][0].shape == (3, 4)
    assert running_pitfalls(model, bound, CODE) == ()


def test_a_dropout_layer_in_train_mode_is_named() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    (pitfall,) = found(model.train())
    assert pitfall.message == "1 is in train mode after eval(), and draws random numbers"
    assert found(model.eval()) == ()


class KeepsDropping(nn.Module):
    """Its dropout layers stay in train mode after eval()."""

    def __init__(self, count: int = 1, *, norm: bool = False) -> None:
        super().__init__()
        self.with_norm = norm
        self.drops = nn.ModuleList(nn.Dropout(0.5) for _ in range(count))
        self.norm = nn.BatchNorm1d(4)

    def train(self, mode: bool = True) -> KeepsDropping:
        super().train(mode)
        self.drops.train()
        self.norm.train(self.with_norm)
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for drop in self.drops:
            x = drop(self.norm(x))
        return x


class StaysInTrainMode(nn.Module):
    """Its eval() does nothing, and its own layer draws."""

    def eval(self) -> StaysInTrainMode:
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rand_like(x) if self.training else x


class SetsModeInForward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.drop.train()(x))


@pytest.mark.parametrize(
    ("model", "said", "advised"),
    [
        (
            nn.Sequential(KeepsDropping()),
            "0.drops.0 is in train mode after eval() (train() of KeepsDropping sets it)",
            "In train() of KeepsDropping, call super() alone",
        ),
        (KeepsDropping(4), "drops.0, drops.1 and 2 more are in train mode after eval()", "super()"),
        (KeepsDropping(norm=True), "drops.0 is in train mode after eval()", "super()"),
        (
            StaysInTrainMode(),
            "the model is in train mode after eval() (eval() of StaysInTrainMode sets it)",
            "In eval() of StaysInTrainMode",
        ),
        (SetsModeInForward(), "drop is in train mode after eval() (forward sets it)", "forward"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_what_stays_in_train_mode_is_named(model: nn.Module, said: str, advised: str) -> None:
    (pitfall,) = found(model.eval())
    assert said in pitfall.message
    assert advised in pitfall.suggestion


def test_noise_is_not_blamed_on_a_part_that_is_in_train_mode() -> None:
    model = nn.Sequential(nn.LayerNorm(4), zoo.Noise()).eval()
    model[0].train()
    (pitfall,) = found(model)
    assert "draws random numbers (" in pitfall.message


def test_a_model_that_was_seen_to_differ_reads_something_else() -> None:
    spec = spec_for("pitfalls:any", inputs=ROWS)
    model = nn.Linear(4, 4)
    bound = bind_inputs(spec, model, CODE)
    (pitfall,) = running_pitfalls(model, bound, CODE, not_deterministic=True)
    assert pitfall.kind is PitfallKind.NOT_DETERMINISTIC
    assert "besides its inputs" in pitfall.message


def test_memory_that_is_not_written_is_named() -> None:
    spec, model = spec_for("pitfalls:any", inputs=ROWS), zoo.WritesHalf()
    bound = bind_inputs(spec, model, CODE)
    (pitfall,) = running_pitfalls(model, bound, CODE, not_deterministic=True)
    assert pitfall.source == line_of("both = torch.empty(x.shape[0], 8)")
    assert "does not write (torch.empty)" in pitfall.message


class IndexesByUnwritten(nn.Module):
    """Other contents of its memory are no index of its table."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ones = (torch.empty(77) == 1).all().long()
        return x + torch.zeros(1, 4)[ones]


@pytest.mark.parametrize("model", [zoo.WritesAll(), zoo.CountsGlobally(), IndexesByUnwritten()])
def test_memory_that_is_written_is_not_to_blame(model: nn.Module) -> None:
    bound = bind_inputs(spec_for("pitfalls:any", inputs=ROWS), model, CODE)
    (pitfall,) = running_pitfalls(model, bound, CODE, not_deterministic=True)
    assert "besides its inputs" in pitfall.message


def test_a_model_that_remembers_differs_from_itself() -> None:
    pitfall, *_state = found(zoo.KeepsFirst())
    assert pitfall.kind is PitfallKind.NOT_DETERMINISTIC
    assert "attribute first" in pitfall.message


def test_state_that_changes_is_named_and_left_alone() -> None:
    model = zoo.CountsItself()
    pitfalls = found(model)
    assert {pitfall.source for pitfall in pitfalls} == {"", "buffer count", "attribute calls"}
    assert (model.calls, model.count) == (0, torch.zeros(()))


@pytest.mark.parametrize(
    "model", [nn.Linear(4, 2), zoo.Harmless(), nn.LSTM(4, 3, batch_first=True), nn.BatchNorm1d(4)]
)
def test_nothing_is_said_of_a_model_that_is_right(model: nn.Module) -> None:
    shape: list[Any] = ["batch", 2, 4] if isinstance(model, nn.LSTM) else ["batch", 4]
    assert found(model.eval(), [{"name": "x", "shape": shape}]) == ()


def test_a_model_that_cannot_be_run_is_no_pitfall() -> None:
    assert found(nn.Linear(5, 2)) == ()


def test_a_script_is_not_traced() -> None:
    scripted: nn.Module = torch.jit.script(nn.Linear(4, 2))
    assert found(scripted) == ()
