"""Loading: the module that eager would have after load_state_dict, without copying weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from modelexport_exporter.checkpoint.load import load_module
from zoo.code import shapes
from zoo.code.vision.digits import Digits
from zoo.tasks import spec_for, task_for

State = dict[str, torch.Tensor]


def saved(path: Path, content: object) -> Path:
    torch.save(content, path)
    return path


@pytest.fixture
def digits() -> State:
    torch.manual_seed(1)
    return dict(Digits().state_dict())


def load(factory: str, checkpoint: Path, tmp_path: Path, **source: object) -> torch.nn.Module:
    spec = spec_for(factory, source=source)
    return load_module(task_for(spec, checkpoint, tmp_path)).module


def as_file(state: State, path: Path) -> Path:
    return saved(path / "model.pt", state)


def as_legacy_file(state: State, path: Path) -> Path:
    torch.save(state, path / "model.pt", _use_new_zipfile_serialization=False)
    return path / "model.pt"


def as_safetensors(state: State, path: Path) -> Path:
    save_file(state, path / "weights")
    return path / "weights"


def as_shards(state: State, path: Path) -> Path:
    directory = path / "shards"
    directory.mkdir()
    names = sorted(state)
    places = {name: f"model-{index % 2}.safetensors" for index, name in enumerate(names)}
    for shard in set(places.values()):
        save_file({name: state[name] for name in names if places[name] == shard}, directory / shard)
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return directory


def nested(key: str) -> Callable[[State, Path], Path]:
    return lambda state, path: saved(path / "model.pt", {key: state, "epoch": 3})


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(as_file, id="state_dict"),
        pytest.param(as_legacy_file, id="state_dict from before the zip format"),
        pytest.param(as_safetensors, id="safetensors without a telling name"),
        pytest.param(as_shards, id="safetensors shards with an index"),
        pytest.param(nested("state_dict"), id="under state_dict"),
        pytest.param(nested("model_state_dict"), id="under model_state_dict"),
    ],
)
def test_every_storage_gives_the_same_module(
    stored: Callable[[State, Path], Path], digits: State, tmp_path: Path
) -> None:
    module = load("vision.digits:build", stored(digits, tmp_path), tmp_path)
    eager = Digits().eval()
    eager.load_state_dict(digits)
    image = torch.randn(2, 1, 8, 8)
    assert torch.equal(module(image), eager(image))
    assert not module.training
    assert not any(parameter.requires_grad for parameter in module.parameters())


def test_a_dotted_key_leads_to_the_weights(digits: State, tmp_path: Path) -> None:
    checkpoint = saved(tmp_path / "c.pt", {"state": {"ema": digits}, "epoch": 3})
    module = load("vision.digits:build", checkpoint, tmp_path, stateDictKey="state.ema")
    assert torch.equal(module.head.weight, digits["head.weight"])  # type: ignore[union-attr, arg-type]


def test_the_weights_are_mapped_from_the_file(digits: State, tmp_path: Path) -> None:
    for stored in (as_file, as_safetensors):
        checkpoint = stored(digits, tmp_path)
        module = load("vision.digits:build", checkpoint, tmp_path)
        for parameter in module.parameters():
            assert file_at(parameter.data_ptr()) == str(checkpoint)


def file_at(address: int) -> str:
    """The file that is mapped at an address of this process."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        area, _, _, _, _, *name = line.split(maxsplit=5)
        begin, end = (int(part, 16) for part in area.split("-"))
        if begin <= address < end:
            return name[0] if name else ""
    return ""


@pytest.mark.parametrize("names", [["embedding.weight"], ["embedding.weight", "head.weight"]])
def test_tied_weights_stay_one_parameter(names: list[str], tmp_path: Path) -> None:
    weight = torch.randn(20, 6)
    checkpoint = saved(tmp_path / "c.pt", {name: weight.clone() for name in names})
    module = load("shapes:Tied", checkpoint, tmp_path)
    assert isinstance(module.head, torch.nn.Linear)
    assert module.head.weight is module.embedding.weight  # type: ignore[union-attr]
    assert torch.equal(module.head.weight, weight)


def test_what_no_checkpoint_holds_is_real(tmp_path: Path) -> None:
    reference = shapes.Positions()
    checkpoint = saved(tmp_path / "c.pt", reference.state_dict())
    module = load("shapes:Positions", checkpoint, tmp_path)
    x = torch.randn(3, 4)
    assert torch.equal(module(x), reference(x))


def test_a_stored_copy_of_a_computed_buffer_is_no_mismatch(tmp_path: Path) -> None:
    reference = shapes.Positions()
    state = {**reference.state_dict(), "frequencies": reference.frequencies}
    module = load("shapes:Positions", saved(tmp_path / "c.pt", state), tmp_path)
    x = torch.randn(3, 4)
    assert torch.equal(module(x), reference(x))


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(shapes.Recurrent, id="recurrent layers keep their flat weights"),
        pytest.param(shapes.ListedWeights, id="parameters in a plain list"),
        pytest.param(shapes.NeedsValues, id="a constructor that reads its parameters"),
        pytest.param(shapes.CopyingHook, id="a load hook that copies"),
        pytest.param(shapes.Orthogonal, id="a parametrization with a buffer made of weights"),
    ],
)
def test_modules_that_assigning_could_break(kind: type[torch.nn.Module], tmp_path: Path) -> None:
    torch.manual_seed(3)
    reference = kind()
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.normal_()
    checkpoint = saved(tmp_path / "c.pt", reference.state_dict())
    module = load(f"shapes:{kind.__name__}", checkpoint, tmp_path)
    x = torch.randn(2, 3, 4)
    assert torch.equal(module(x), reference(x))


def test_a_random_buffer_is_the_same_in_every_process(tmp_path: Path) -> None:
    checkpoint = saved(tmp_path / "c.pt", shapes.RandomProjection().state_dict())
    first = load("shapes:RandomProjection", checkpoint, tmp_path)
    torch.randn(5)
    second = load("shapes:RandomProjection", checkpoint, tmp_path)
    assert torch.equal(first.noise, second.noise)  # type: ignore[arg-type]


def test_half_precision_weights_are_cast_and_reported(digits: State, tmp_path: Path) -> None:
    halves = {
        name: value.half() if value.is_floating_point() else value for name, value in digits.items()
    }
    checkpoint = saved(tmp_path / "c.pt", halves)
    loaded = load_module(task_for(spec_for("vision.digits:build"), checkpoint, tmp_path))
    assert {parameter.dtype for parameter in loaded.module.parameters()} == {torch.float32}
    assert [finding.requested for finding in loaded.findings] == [
        "float16 in the checkpoint (8 tensors)"
    ]
