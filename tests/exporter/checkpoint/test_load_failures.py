"""Everything that can be wrong with a checkpoint or a factory, by name."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import Rung
from zoo.checkpoints import (
    Make,
    RunsCode,
    cut,
    program_with,
    raw_file,
    shards,
    state,
    tensors_file,
    torch_file,
)
from zoo.code.shapes import Tied
from zoo.code.vision.digits import Digits
from zoo.tasks import spec_for, task_for

DIGITS = "vision.digits:build"


class Case(NamedTuple):
    name: str
    make: Make
    factory: str | None
    source: dict[str, Any]
    reason: Reason
    said: str


CASES: list[tuple[str, Make, str | None, dict[str, Any], Reason, str]] = [
    # checkpoints
    ("empty file", raw_file(b""), DIGITS, {}, Reason.CHECKPOINT_CORRUPT, "is empty"),
    ("text", raw_file(b"hello world" * 9), DIGITS, {}, Reason.FORMAT_UNKNOWN, "no format"),
    ("web page", raw_file(b"<html>" * 9), DIGITS, {}, Reason.FORMAT_UNKNOWN, "HTML"),
    ("plain pickle", raw_file(pickle.dumps({"a": 1})), DIGITS, {}, Reason.FORMAT_UNKNOWN, "pickle"),
    ("cut zip", cut(torch_file(state()), 0.5), DIGITS, {}, Reason.CHECKPOINT_CORRUPT, "cut off"),
    (
        "cut legacy file",
        cut(torch_file(state(), zipped=False), 0.7),
        DIGITS,
        {},
        Reason.CHECKPOINT_CORRUPT,
        "cut off",
    ),
    ("cut safetensors", cut(tensors_file, 0.9), DIGITS, {}, Reason.CHECKPOINT_CORRUPT, "bytes"),
    ("cut header", cut(tensors_file, 0.05), DIGITS, {}, Reason.CHECKPOINT_CORRUPT, "header"),
    (
        "declared format differs",
        torch_file(state()),
        DIGITS,
        {"format": "Safetensors"},
        Reason.FORMAT_UNKNOWN,
        "source.format is Safetensors, but model.pt holds a StateDict",
    ),
    (
        "pickle with code in it",
        torch_file({"w": RunsCode()}),
        DIGITS,
        {},
        Reason.UNSAFE_CHECKPOINT,
        "posix.system",
    ),
    (
        "whole module pickled",
        torch_file(Digits()),
        DIGITS,
        {},
        Reason.UNSAFE_CHECKPOINT,
        "zoo.code.vision.digits.Digits",
    ),
    (
        "shard missing",
        shards({"a": "one.safetensors"}, "two.safetensors"),
        DIGITS,
        {},
        Reason.CHECKPOINT_CORRUPT,
        "names one.safetensors, which is missing",
    ),
    (
        "index names a tensor elsewhere",
        shards({"a": "one.safetensors"}, "one.safetensors"),
        DIGITS,
        {},
        Reason.CHECKPOINT_CORRUPT,
        "says that a is in one.safetensors",
    ),
    (
        "shards without an index",
        shards(None, "one.safetensors", "two.safetensors"),
        DIGITS,
        {},
        Reason.FORMAT_UNKNOWN,
        "no *.safetensors.index.json",
    ),
    # where the weights lie
    (
        "no state_dict inside",
        torch_file({"epoch": 3, "ema": {"w": torch.ones(1)}}),
        DIGITS,
        {},
        Reason.STATE_DICT_MISMATCH,
        "no state_dict found",
    ),
    (
        "two state_dicts inside",
        torch_file({"model": state(), "state_dict": state()}),
        DIGITS,
        {},
        Reason.STATE_DICT_MISMATCH,
        "more than one",
    ),
    (
        "key leads nowhere",
        torch_file({"model": state()}),
        DIGITS,
        {"stateDictKey": "model.ema"},
        Reason.STATE_DICT_MISMATCH,
        "model.ema, where the checkpoint holds nothing",
    ),
    # weights against module
    (
        "shape",
        torch_file(state(head__weight=torch.ones(10, 7))),
        DIGITS,
        {},
        Reason.STATE_DICT_MISMATCH,
        "head.weight: float32 (10, 7) in the checkpoint, float32 (10, 128) in the module",
    ),
    (
        "missing",
        torch_file(state(head__bias=None)),
        DIGITS,
        {},
        Reason.STATE_DICT_MISMATCH,
        "missing in the checkpoint: head.bias",
    ),
    (
        "unexpected",
        torch_file(state(extra=torch.ones(1))),
        DIGITS,
        {},
        Reason.STATE_DICT_MISMATCH,
        "not in the module: extra",
    ),
    (
        "integers for floats",
        torch_file(state(head__bias=torch.ones(10, dtype=torch.int8))),
        DIGITS,
        {},
        Reason.STATE_DICT_MISMATCH,
        "head.bias: int8 (10,)",
    ),
    (
        "tied weights that differ",
        torch_file({"embedding.weight": torch.ones(20, 6), "head.weight": torch.zeros(20, 6)}),
        "shapes:Tied",
        {},
        Reason.STATE_DICT_MISMATCH,
        "embedding.weight and head.weight",
    ),
    # factories
    (
        "no module",
        torch_file(state()),
        "visoin.digits:build",
        {},
        Reason.FACTORY_NOT_FOUND,
        "visoin",
    ),
    (
        "no attribute",
        torch_file(state()),
        "vision.digits:biuld",
        {},
        Reason.FACTORY_NOT_FOUND,
        "biuld",
    ),
    (
        "missing library",
        torch_file(state()),
        "needs_missing:build",
        {},
        Reason.FACTORY_NOT_FOUND,
        "a_library_nobody_has",
    ),
    ("raises", torch_file(state()), "awkward:raises", {}, Reason.FACTORY_FAILED, "awkward.py:"),
    ("exits", torch_file(state()), "awkward:exits", {}, Reason.FACTORY_FAILED, "SystemExit: 3"),
    ("no module", torch_file(state()), "awkward:returns_dict", {}, Reason.FACTORY_FAILED, "a dict"),
    ("not callable", torch_file(state()), "awkward:__doc__", {}, Reason.FACTORY_NOT_FOUND, "str"),
    ("no factory", torch_file(state()), None, {}, Reason.FACTORY_NOT_FOUND, "no model.factory"),
    # programs
    (
        "program that calls into torch",
        program_with("torch.ops.aten.relu.default", "torch.os.system"),
        None,
        {},
        Reason.UNSAFE_CHECKPOINT,
        "calls torch.os.system",
    ),
    (
        "program whose guard is code",
        program_with('"guards_code": [', '"guards_code": ["__import__(\'os\')"'),
        None,
        {},
        Reason.UNSAFE_CHECKPOINT,
        "evaluates",
    ),
    (
        "program whose shape is code",
        program_with("Symbol('s", "exit(1) or Symbol('s"),
        None,
        {},
        Reason.UNSAFE_CHECKPOINT,
        "evaluates",
    ),
    (
        "cut program",
        cut(program_with("relu", "relu"), 0.5),
        None,
        {},
        Reason.CHECKPOINT_CORRUPT,
        "cut off",
    ),
]


@pytest.mark.parametrize("case", [pytest.param(Case(*row), id=row[0]) for row in CASES])
def test_failure(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = spec_for(case.factory, source=case.source)
    task = task_for(spec, case.make(tmp_path), tmp_path, rung=Rung.DYNAMO)
    with pytest.raises(ExportFailure) as caught:
        load_module(task)
    failure = caught.value
    assert (failure.reason, case.said in failure.message) == (case.reason, True), str(failure)
    assert failure.hint
    assert "Traceback" not in failure.message
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("content", "factory", "advice"),
    [
        pytest.param(
            {"weight": torch.ones(20, 6)},
            "shapes:Wrapped",
            "Every name in the module begins with inner.",
            id="the factory wraps",
        ),
        pytest.param(state(), "vision.digits:biuld", "Did you mean build?", id="typing mistake"),
        pytest.param(
            state(), "visoin.digits:build", "Did you mean vision?", id="typing mistake in module"
        ),
        pytest.param({"ema": state()}, DIGITS, "source.stateDictKey: ema", id="unusual key"),
        pytest.param(
            {"embedding.weight": torch.ones(3, 6)}, "shapes:Tied", "model.kwargs", id="other sizes"
        ),
    ],
)
def test_hint_says_what_to_do(content: object, factory: str, advice: str, tmp_path: Path) -> None:
    with pytest.raises(ExportFailure) as caught:
        load_module(task_for(spec_for(factory), torch_file(content)(tmp_path), tmp_path))
    assert advice in caught.value.hint


def test_a_trusted_pickle_is_loaded(tmp_path: Path) -> None:
    checkpoint = torch_file(Tied())(tmp_path)
    spec = spec_for("shapes:Tied", source={"allowPickle": True})
    assert load_module(task_for(spec, checkpoint, tmp_path)).module(torch.tensor([1])).shape == (
        1,
        20,
    )
