"""A module as files and back: it computes what the live one computes, which stays as it is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, weight_norm

from modelexport.live import export
from modelexport.live_factory import MODULE_FILE
from modelexport.live_module import class_name, write_live
from modelexport_api.spec import ModelExportSpec
from modelexport_cli.export_error import ExportError
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.types import ExportTask

Load = Callable[[Any], nn.Module]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Writes a model down, and returns what a worker loads."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def loading(model: nn.Module) -> nn.Module:
        live = write_live(tmp_path, model, None)
        spec = ModelExportSpec.model_validate(
            {
                "source": {"uri": live.checkpoint.as_uri()},
                "destination": {"uri": "file:///unknown/"},
                "model": {"factory": live.factory} if live.factory else {},
                "inputs": [{"name": "x", "shape": [2, 4]}],
            }
        )
        return load_module(ExportTask(spec, live.checkpoint, live.code, tmp_path)).module

    yield loading
    sys.modules.pop("modelexport_live", None)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.second(self.first(x))
        return found


class Buffers(nn.Module):
    kept: torch.Tensor
    lost: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.rand(4))
        self.register_buffer("lost", torch.rand(4), persistent=False)
        self.plain = torch.rand(4)
        self.learned = [nn.Parameter(torch.rand(4))]
        self.function: Callable[[torch.Tensor], torch.Tensor] = lambda x: x * 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x * self.kept + self.lost) * self.plain + self.learned[0]


class ExtraState(nn.Linear):
    version = 3

    def get_extra_state(self) -> dict[str, int]:
        return {"version": self.version}

    def set_extra_state(self, state: dict[str, int]) -> None:
        self.version = state["version"]


class RenamedState(nn.Linear):
    """Its state_dict has new tensors, which are not those of the module."""

    def __init__(self) -> None:
        super().__init__(4, 4)
        self.register_state_dict_post_hook(self._copied)  # type: ignore[no-untyped-call]

    @staticmethod
    def _copied(_module: nn.Module, state: dict[str, Any], *_rest: object) -> None:
        for name, value in [*state.items()]:
            state[name] = value.detach().clone()


def hooked() -> nn.Module:
    module = nn.Linear(4, 4)
    module.register_forward_hook(lambda _module, _inputs, output: output * 3)
    return module


def compiled(module: nn.Module) -> nn.Module:
    return cast("nn.Module", torch.compile(module))


def traced(module: nn.Module) -> nn.Module:
    trace: Callable[..., nn.Module] = torch.jit.trace
    return trace(module, torch.rand(2, 4))


def patched() -> nn.Module:
    module = nn.Linear(4, 4)
    module.forward = lambda x: x + module.bias  # type: ignore[method-assign, assignment]
    return module


@pytest.mark.parametrize(
    "make",
    [
        Tied,
        Buffers,
        hooked,
        patched,
        RenamedState,
        lambda: ExtraState(4, 4),
        lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4)),
        lambda: nn.Linear(4, 4, dtype=torch.float64),
        lambda: nn.Linear(4, 4, dtype=torch.bfloat16),
        lambda: nn.DataParallel(Tied()),
        lambda: nn.Sequential(nn.DataParallel(nn.Linear(4, 4)), compiled(Tied())),
        lambda: compiled(nn.Linear(4, 4)),
        lambda: nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 4))),
        lambda: parametrizations.orthogonal(nn.Linear(4, 4)),
        lambda: weight_norm(nn.Linear(4, 4)),
        lambda: nn.Sequential(traced(nn.Linear(4, 4)), nn.ReLU()),
        lambda: torch.jit.script(Tied()),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_it_computes_the_same_and_the_live_one_stays(
    make: Callable[[], nn.Module], load: Load
) -> None:
    torch.manual_seed(0)
    model = make()
    model.train()
    before = {name: value.clone() for name, value in model.state_dict().items() if _tensor(value)}
    found = load(model)
    assert model.training
    assert not found.training
    after = model.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    # What torch.compile wraps is called without a compiler.
    with torch.compiler.set_stance("force_eager"):
        dtypes = [value.dtype for value in before.values()]
        x = torch.rand(2, 4, dtype=dtypes[0])
        assert torch.equal(found(x), model.eval()(x))


def _tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def test_weights_that_are_one_stay_one(load: Load) -> None:
    found = load(Tied())
    assert isinstance(found.first, nn.Linear)
    assert isinstance(found.second, nn.Linear)
    assert found.first.weight is found.second.weight


def test_weights_are_not_written_twice(tmp_path: Path) -> None:
    write_live(tmp_path, nn.Linear(1000, 1000), ((torch.rand(1, 1000),), {}))
    # The digests of all modules of this process lie beside it: a hundred bytes each.
    assert (tmp_path / "code" / MODULE_FILE).stat().st_size < 100_000
    assert (tmp_path / "checkpoint.pt").stat().st_size > 4_000_000


@pytest.mark.parametrize("wrap", [lambda model: model, nn.DataParallel, torch.jit.script, compiled])
def test_the_name_of_a_class(wrap: Callable[[nn.Module], nn.Module]) -> None:
    assert class_name(wrap(Tied())) == "Tied"


class Locked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4))
        self.inner.lock = threading.Lock()  # type: ignore[assignment]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.inner(x)
        return found


class Refusing:
    def __getstate__(self) -> object:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("model", "args", "message", "hint"),
    [
        (Locked(), 1, "Locked: attribute inner.lock cannot be written", "Remove what is bound"),
        (nn.Linear(2, 2), Refusing(), "args cannot be written to a file: ValueError: no", ""),
        (
            cast("nn.Module", len),
            1,
            "model is a builtin_function_or_method, not a torch.nn.Module",
            "forward calls",
        ),
        (nn.LazyLinear(3), 1, "weight has no shape yet", "Call the model once"),
        (nn.Linear(2, 2, device="meta"), 1, "weight has no values", "Load the weights"),
    ],
)
def test_what_cannot_be_written(model: nn.Module, args: object, message: str, hint: str) -> None:
    with pytest.raises(ExportError) as caught:
        export(model, args, progress=False)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.reason == "FactoryFailed"
