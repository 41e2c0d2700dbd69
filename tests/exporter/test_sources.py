"""Every kind of source, each with a real checkpoint as its framework writes it."""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.state_dict_saver import save as save_distributed

from modelexport_api.spec import Format
from modelexport_exporter.failure import ExportFailure
from modelexport_exporter.load import LoadedModel, load_module
from modelexport_exporter.values import Rung
from zoo.code.wrapping import Net, Training
from zoo.tasks import spec_for, task_for

State = dict[str, Any]
X = torch.randn(5, 4)
NET = "wrapping:Net"


def load(
    checkpoint: Path, tmp_path: Path, factory: str | None = NET, **source: object
) -> LoadedModel:
    spec = spec_for(factory, source=source)
    return load_module(task_for(spec, checkpoint, tmp_path, rung=Rung.DYNAMO))


def refused(checkpoint: Path, tmp_path: Path, factory: str | None = NET, **source: object) -> str:
    with pytest.raises(ExportFailure) as caught:
        load(checkpoint, tmp_path, factory, **source)
    assert caught.value.hint
    return str(caught.value)


@pytest.fixture
def net() -> Net:
    torch.manual_seed(3)
    return Net().eval()


def same(loaded: LoadedModel, net: Net) -> bool:
    return torch.allclose(loaded.module(X), net(X), atol=1e-6) and not loaded.module.training


def saved(content: object, path: Path, name: str = "model.ckpt") -> Path:
    torch.save(content, path / name)
    return path / name


# prefixes and wrappers


def prefixed(prefix: str) -> Callable[[State], State]:
    return lambda state: {f"{prefix}{name}": value for name, value in state.items()}


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
def test_prefixes_are_taken_away_and_told(
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


# Lightning


class AttributeDict(dict[str, Any]):
    """Like Lightning's: a dict whose class is not known here."""


class Library:
    """Stands for a config class of some library."""

    def __init__(self) -> None:
        self.rate = 0.1


def lightning(**changed: object) -> dict[str, Any]:
    return {
        "epoch": 3,
        "pytorch-lightning_version": "2.5.1",
        "state_dict": prefixed("model.")(Net().state_dict()),
        "optimizer_states": [{"state": {0: {"exp_avg": torch.ones(3)}}}],
        **changed,
    }


@pytest.mark.parametrize(
    "hyper_parameters",
    [
        pytest.param({"width": 8}, id="plain"),
        pytest.param(argparse.Namespace(width=8, path=pathlib.Path("x")), id="Namespace"),
        pytest.param(AttributeDict(width=8, more=AttributeDict(a=[1])), id="AttributeDict"),
        pytest.param({"config": Library(), "kind": Library}, id="object of a library"),
        pytest.param(collections.defaultdict(list, a=[1]), id="defaultdict"),
    ],
)
def test_a_lightning_checkpoint_whatever_its_hyper_parameters(
    hyper_parameters: object, net: Net, tmp_path: Path
) -> None:
    state = prefixed("model.")(net.state_dict())
    content = lightning(state_dict=state, hyper_parameters=hyper_parameters)
    loaded = load(saved(content, tmp_path), tmp_path)
    assert loaded.format is Format.LIGHTNING
    assert same(loaded, net)


def test_only_the_network_of_a_lightning_module_is_loaded(tmp_path: Path) -> None:
    module = Training().eval()
    loaded = load(saved(lightning(state_dict=module.state_dict()), tmp_path), tmp_path)
    assert same(loaded, module.model)
    assert "loss.weight" in loaded.findings[1].requested


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(
            {"pytorch-lightning_version": "2", "epoch": 1}, "state_dict, where the", id="no weights"
        ),
        pytest.param(
            lightning(callbacks={"x": os.system}), "UnsafeCheckpoint.*posix.system", id="code"
        ),
        pytest.param(lightning(callbacks={"x": eval}), "UnsafeCheckpoint.*eval", id="eval"),
        pytest.param(
            lightning(state_dict={"w": torch.ones(1), "e": Library()}),
            "UnsafeCheckpoint.*Library",
            id="an object among the weights",
        ),
    ],
)
def test_a_lightning_checkpoint_is_refused(
    content: dict[str, Any], said: str, tmp_path: Path
) -> None:
    text = refused(saved(content, tmp_path), tmp_path)
    assert re.search(said, text), text


# whole modules


def test_a_whole_module_that_is_trusted_needs_no_factory(net: Net, tmp_path: Path) -> None:
    loaded = load(saved(net.train(), tmp_path), tmp_path, None, allowPickle=True)
    assert loaded.format is Format.MODULE
    assert same(loaded, net.eval())


@pytest.mark.parametrize(
    ("content", "key"),
    [
        pytest.param(lambda net: {"model": net, "epoch": 1}, None, id="under model"),
        pytest.param(lambda net: {"a": {"ema": net}}, "a.ema", id="under stateDictKey"),
        pytest.param(torch.nn.DataParallel, None, id="in DataParallel"),
    ],
)
def test_where_a_whole_module_may_lie(
    content: Callable[[Net], object], key: str | None, net: Net, tmp_path: Path
) -> None:
    checkpoint = saved(content(net), tmp_path)
    source = {"stateDictKey": key} if key else {}
    loaded = load(checkpoint, tmp_path, None, allowPickle=True, format="Module", **source)
    assert same(loaded, net)
    assert isinstance(loaded.module, Net)


def test_a_module_of_the_script_that_saved_it_is_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import __main__

    gone = type("Gone", (Net,), {"__module__": "__main__"})
    with monkeypatch.context() as script:
        script.setattr(__main__, "Gone", gone, raising=False)
        checkpoint = saved(gone(), tmp_path)
    text = refused(checkpoint, tmp_path, None, allowPickle=True)
    assert re.search("FactoryNotFound.*Gone.*__main__", text), text


def test_weights_are_no_module(net: Net, tmp_path: Path) -> None:
    checkpoint = saved({"weights": net.state_dict()}, tmp_path)
    text = refused(checkpoint, tmp_path, None, allowPickle=True, format="Module")
    assert "holds no pickled torch.nn.Module: it is a dict" in text


# what training leaves in a plain torch.save


def test_arguments_beside_the_weights_are_not_loaded(net: Net, tmp_path: Path) -> None:
    content = {"model": net.state_dict(), "args": argparse.Namespace(lr=1.0), "c": Library()}
    assert same(load(saved(content, tmp_path), tmp_path), net)


def test_a_module_among_the_keys_is_no_state_dict(tmp_path: Path) -> None:
    text = refused(saved({"model": Net(), "epoch": 1}, tmp_path), tmp_path, NET)
    assert re.search("UnsafeCheckpoint.*zoo.code.wrapping.Net", text), text


# torch.distributed.checkpoint


def distributed(content: State, path: Path) -> Path:
    save_distributed(content, checkpoint_id=path / "dcp", no_dist=True)
    return path / "dcp"


@pytest.mark.parametrize(
    "nest",
    [
        pytest.param(dict, id="flat"),
        pytest.param(lambda state: {"model": state, "step": 3}, id="under model"),
        pytest.param(lambda state: {"state": {"model": state}}, id="one level below"),
        pytest.param(prefixed("model.module."), id="prefixes"),
    ],
)
def test_a_distributed_checkpoint(nest: Callable[[State], State], net: Net, tmp_path: Path) -> None:
    optimizer = torch.optim.Adam(net.parameters())
    net(X).sum().backward()
    optimizer.step()
    content = nest(net.state_dict())
    if "step" in content:
        content["optimizer"] = optimizer.state_dict()
    loaded = load(distributed(content, tmp_path), tmp_path)
    assert loaded.format is Format.DISTRIBUTED_CHECKPOINT
    assert same(loaded, net)


def cut(path: Path, keep: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(lambda d: cut(d / ".metadata", 0.5), "CheckpointCorrupt.*metadata", id="cut"),
        pytest.param(lambda d: cut(d / "__0_0.distcp", 0.5), "cut off", id="cut shard"),
        pytest.param(lambda d: (d / "__0_0.distcp").unlink(), "__0_0.distcp.*missing", id="lost"),
        pytest.param(
            lambda d: (d / ".metadata").write_bytes(pickle.dumps(os.system)),
            "UnsafeCheckpoint.*posix.system",
            id="code",
        ),
        pytest.param(
            lambda d: (d / ".metadata").write_bytes(
                (d / ".metadata").read_bytes().replace(b"__0_0.distcp", b"../model.pth")
            ),
            "../model.pth, which is missing in the directory",
            id="another directory",
        ),
    ],
)
def test_a_damaged_distributed_checkpoint(
    damage: Callable[[Path], object], said: str, net: Net, tmp_path: Path
) -> None:
    directory = distributed(net.state_dict(), tmp_path)
    torch.save(net.state_dict(), tmp_path / "model.pth")
    damage(directory)
    text = refused(directory, tmp_path)
    assert re.search(said, text), text


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
