"""Names that wrappers changed, compiled functions, modes, shards, and factories that meddle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from modelexport_exporter.checkpoint.load import load_module
from zoo.code.wrapping import Net
from zoo.loading import State, X, load, prefixed, refused, same, saved
from zoo.tasks import spec_for, task_for


@pytest.fixture
def net() -> Net:
    torch.manual_seed(3)
    return Net().eval()


# prefixes and wrappers


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        pytest.param(prefixed("module."), "module.", id="DataParallel"),
        pytest.param(prefixed("_orig_mod."), "_orig_mod.", id="torch.compile"),
        pytest.param(prefixed("module._orig_mod."), "_orig_mod., module.", id="both"),
        pytest.param(prefixed("_fsdp_wrapped_module."), "_fsdp_wrapped_module.", id="FSDP"),
        pytest.param(prefixed("net."), "net.", id="an attribute of a wrapper"),
        pytest.param(prefixed("module.model."), "module., model.", id="wrapped twice"),
        pytest.param(
            lambda state: {k.replace("body.", "body.module."): v for k, v in state.items()},
            "module.",
            id="only one part was parallel",
        ),
    ],
)
def test_prefixes_are_removed_and_reported(
    stored: Callable[[State], State], told: str, net: Net, tmp_path: Path
) -> None:
    loaded = load(saved(stored(net.state_dict()), tmp_path), tmp_path)
    assert same(loaded, net)
    assert loaded.findings[0].requested == f"names with {told} in the checkpoint (9 tensors)"


@pytest.mark.parametrize(
    "factory",
    ["in_data_parallel", "body_in_data_parallel", "compiled", "in_train_mode", "scripted"],
)
def test_what_a_factory_wraps_is_unwrapped(factory: str, net: Net, tmp_path: Path) -> None:
    loaded = load(saved(net.state_dict(), tmp_path), tmp_path, f"wrapping:{factory}")
    assert same(loaded, net)
    assert not any(isinstance(part, torch.nn.DataParallel) for part in loaded.module.modules())


def test_another_architecture_under_a_prefix_shows_what_really_differs(tmp_path: Path) -> None:
    stored = prefixed("module.")(Net(width=6).state_dict())
    text = refused(saved(stored, tmp_path), tmp_path)
    assert text.startswith("StateDictMismatch")
    assert "body.0.weight: float32 (6, 4) in the checkpoint, float32 (8, 4) in the module" in text


# compiled functions


def test_a_function_of_torch_jit_script_is_a_model(tmp_path: Path) -> None:
    loaded = load(saved({}, tmp_path), tmp_path, "wrapping:scripted_function")
    assert isinstance(loaded.module, torch.jit.ScriptModule)
    assert torch.equal(loaded.module(X.abs(), 3), X.abs() * 3)
    assert torch.equal(loaded.module(-X.abs(), 3), X.abs())


def test_a_function_of_torch_jit_trace_is_a_model(tmp_path: Path) -> None:
    loaded = load(saved({}, tmp_path), tmp_path, "wrapping:traced_function")
    assert torch.equal(loaded.module(X), torch.sin(X))


# train mode


@pytest.mark.parametrize("training", [False, True])
def test_the_mode_is_the_specs(training: bool, net: Net, tmp_path: Path) -> None:
    spec = spec_for("wrapping:in_train_mode")
    assert spec.model is not None
    model = spec.model.model_copy(update={"training": training})
    spec = spec.model_copy(update={"model": model})
    task = task_for(spec, saved(net.state_dict(), tmp_path), tmp_path)
    modes = {module.training for module in load_module(task).module.modules()}
    assert modes == {training}


def test_eval_is_called_as_users_call_it(net: Net, tmp_path: Path) -> None:
    loaded = load(saved(net.state_dict(), tmp_path), tmp_path, "wrapping:Deployed")
    assert getattr(loaded.module, "deployed") is True  # noqa: B009 - it is a Module here


# shards of torch.save


def pickled_shards(state: State, path: Path, index: State | None = None) -> Path:
    directory = path / "shards"
    directory.mkdir()
    places = {name: f"pytorch_model-{len(name) % 2}.bin" for name in state}
    for shard in set(places.values()):
        part = {name: value for name, value in state.items() if places[name] == shard}
        torch.save(part, directory / shard)
    text = json.dumps({"weight_map": index or places})
    (directory / "pytorch_model.bin.index.json").write_text(text)
    return directory


def test_shards_of_torch_save_with_an_index(net: Net, tmp_path: Path) -> None:
    assert same(load(pickled_shards(net.state_dict(), tmp_path), tmp_path), net)


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ({"a": "../model.ckpt.bin"}, "is not an index of shards"),
        ({"a": "pytorch_model-7.bin"}, "names pytorch_model-7.bin, which is missing"),
    ],
)
def test_an_index_that_leads_elsewhere(index: State, said: str, net: Net, tmp_path: Path) -> None:
    assert said in refused(pickled_shards(net.state_dict(), tmp_path, index), tmp_path)


# factories that change the process


def test_what_a_factory_changes_for_the_process_is_put_back(net: Net, tmp_path: Path) -> None:
    directory = Path.cwd()
    loaded = load(saved(net.state_dict(), tmp_path), tmp_path, "wrapping:changes_the_process")
    assert torch.get_default_dtype() is torch.float32
    assert torch.get_default_device().type == "cpu"
    assert torch.is_grad_enabled()
    assert not torch.are_deterministic_algorithms_enabled()
    assert Path.cwd() == directory
    assert same(loaded, net)
    told = " ".join(finding.requested for finding in loaded.findings)
    assert "default dtype set to torch.float64" in told
    assert "working directory set to /" in told
