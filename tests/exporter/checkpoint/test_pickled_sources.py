"""Checkpoints of Lightning, whole modules, and what training leaves beside the weights."""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_api.spec import Format
from zoo.code.wrapping import Net, Training
from zoo.loading import NET, load, prefixed, refused, same, saved


@pytest.fixture
def net() -> Net:
    torch.manual_seed(3)
    return Net().eval()


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


def test_arguments_next_to_the_weights_are_not_loaded(net: Net, tmp_path: Path) -> None:
    content = {"model": net.state_dict(), "args": argparse.Namespace(lr=1.0), "c": Library()}
    assert same(load(saved(content, tmp_path), tmp_path), net)


def test_a_module_among_the_keys_is_no_state_dict(tmp_path: Path) -> None:
    text = refused(saved({"model": Net(), "epoch": 1}, tmp_path), tmp_path, NET)
    assert re.search("UnsafeCheckpoint.*zoo.code.wrapping.Net", text), text
