"""Hugging Face directories: real models of transformers, small and random."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from modelexport_api.spec import Format
from modelexport_exporter.checkpoint.hugging_face import is_a_head
from modelexport_exporter.checkpoint.load import LoadedModel, load_module
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import Rung
from zoo.tasks import spec_for, task_for

transformers: Any = pytest.importorskip("transformers")

SMALL = {
    "vocab_size": 60,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
IDS = torch.randint(0, 60, (2, 5))
PIXELS = torch.randn(2, 3, 16, 16)


def bert() -> torch.nn.Module:
    model: torch.nn.Module = transformers.BertForMaskedLM(transformers.BertConfig(**SMALL))
    return model


def gpt2() -> torch.nn.Module:
    config = transformers.GPT2Config(
        vocab_size=60, n_embd=16, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
    )
    model: torch.nn.Module = transformers.GPT2LMHeadModel(config)
    return model


def t5() -> torch.nn.Module:
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_heads": 4}
    model: torch.nn.Module = transformers.T5ForConditionalGeneration(
        transformers.T5Config(vocab_size=60, **sizes)
    )
    return model


def vit() -> torch.nn.Module:
    sizes = {**SMALL, "image_size": 16, "patch_size": 8}
    del sizes["vocab_size"]
    model: torch.nn.Module = transformers.ViTForImageClassification(transformers.ViTConfig(**sizes))
    return model


def resnet() -> torch.nn.Module:
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])
    model: torch.nn.Module = transformers.ResNetForImageClassification(config)
    return model


@pytest.fixture(autouse=True)
def quiet() -> None:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def saved(model: torch.nn.Module, path: Path, **options: object) -> Path:
    model.save_pretrained(path / "model", **options)  # type: ignore[operator]
    return path / "model"


def load(directory: Path, tmp_path: Path, **model: object) -> LoadedModel:
    spec = spec_for(model.pop("factory", None), kwargs=model.get("kwargs"))  # type: ignore[arg-type]
    if model and spec.model is None:
        spec = type(spec).model_validate({**spec.to_wire(), "model": model})
    return load_module(task_for(spec, directory, tmp_path, rung=Rung.DYNAMO))


def refused(directory: Path, tmp_path: Path, **model: object) -> str:
    with pytest.raises(ExportFailure) as caught:
        load(directory, tmp_path, **model)
    assert caught.value.hint
    return str(caught.value)


@pytest.mark.parametrize(
    ("build", "arguments"),
    [
        pytest.param(bert, {"input_ids": IDS}, id="encoder"),
        pytest.param(gpt2, {"input_ids": IDS}, id="decoder"),
        pytest.param(t5, {"input_ids": IDS, "decoder_input_ids": IDS}, id="encoder-decoder"),
        pytest.param(vit, {"pixel_values": PIXELS}, id="vision transformer"),
        pytest.param(resnet, {"pixel_values": PIXELS}, id="convolutions"),
    ],
)
def test_the_model_that_from_pretrained_builds(
    build: Callable[[], torch.nn.Module], arguments: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    model = build().eval()
    loaded = load(saved(model, tmp_path), tmp_path)
    result = loaded.module(**arguments)
    assert loaded.format is Format.HUGGING_FACE
    assert isinstance(loaded.module, type(model))
    assert type(result) is dict
    expected = model(**arguments)
    assert list(result) == [key for key in expected if isinstance(expected[key], torch.Tensor)]
    torch.testing.assert_close(result, {key: expected[key] for key in result})
    torch.testing.assert_close(copy.deepcopy(loaded.module)(**arguments), result)


def test_weights_are_mapped_and_tied(tmp_path: Path) -> None:
    directory = saved(gpt2(), tmp_path)
    module: Any = load(directory, tmp_path).module
    assert module.lm_head.weight is module.transformer.wte.weight
    mapped = Path("/proc/self/maps").read_text()
    areas = [
        [int(part, 16) for part in line.split()[0].split("-")]
        for line in mapped.splitlines()
        if line.endswith(str(directory / "model.safetensors"))
    ]
    for parameter in module.parameters():
        assert any(begin <= parameter.data_ptr() < end for begin, end in areas)
        assert not parameter.requires_grad


def test_shards_with_an_index(tmp_path: Path) -> None:
    model = bert().eval()
    directory = saved(model, tmp_path, max_shard_size="8KB")
    assert (directory / "model.safetensors.index.json").exists()
    result = load(directory, tmp_path).module(input_ids=IDS)
    torch.testing.assert_close(result["logits"], model(IDS).logits)


@pytest.mark.parametrize("sharded", [False, True], ids=["one file", "shards"])
def test_weights_of_torch_save(sharded: bool, tmp_path: Path) -> None:
    model = bert().eval()
    directory = saved(model, tmp_path)
    (directory / "model.safetensors").unlink()
    state = model.state_dict()
    if sharded:
        names = sorted(state)
        places = {name: f"pytorch_model-{index % 2}.bin" for index, name in enumerate(names)}
        for shard in ("pytorch_model-0.bin", "pytorch_model-1.bin"):
            torch.save({n: state[n] for n in names if places[n] == shard}, directory / shard)
        index = json.dumps({"weight_map": places})
        (directory / "pytorch_model.bin.index.json").write_text(index)
    else:
        torch.save(state, directory / "pytorch_model.bin")
    result = load(directory, tmp_path).module(input_ids=IDS)
    torch.testing.assert_close(result["logits"], model(IDS).logits)


def test_a_factory_replaces_the_class(tmp_path: Path) -> None:
    model = transformers.BertModel(transformers.BertConfig(**SMALL)).eval()
    directory = saved(model, tmp_path)
    loaded = load(directory, tmp_path, factory="encoder:build", kwargs={"config": SMALL})
    torch.testing.assert_close(loaded.module(IDS)[0], model(IDS)[0])


def test_kwargs_reach_the_config_and_the_class(tmp_path: Path) -> None:
    kwargs = {"dtype": "float64", "attn_implementation": "eager", "output_hidden_states": True}
    loaded = load(saved(bert(), tmp_path), tmp_path, kwargs=kwargs)
    assert {parameter.dtype for parameter in loaded.module.parameters()} == {torch.float64}
    result = loaded.module(input_ids=IDS)
    assert result["logits"].dtype is torch.float64
    assert len(result["hidden_states"]) == 3


def test_without_architectures_it_is_the_bare_model(tmp_path: Path) -> None:
    directory = saved(transformers.BertModel(transformers.BertConfig(**SMALL)), tmp_path)
    edit(directory, architectures=None)
    assert isinstance(load(directory, tmp_path).module, transformers.BertModel)


def test_a_head_that_the_class_lacks_is_reported(tmp_path: Path) -> None:
    directory = saved(bert(), tmp_path)
    add(directory, {"cls.seq_relationship.weight": torch.ones(2, 16)})
    (finding,) = load(directory, tmp_path).findings
    assert finding.requested == (
        "1 more tensors in the checkpoint (cls.seq_relationship.weight float32 (2, 16))"
    )


def edit(directory: Path, **changed: object) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def add(directory: Path, tensors: dict[str, torch.Tensor], without: str = "") -> None:
    path = directory / "model.safetensors"
    state = {name: value.clone() for name, value in load_file(path).items() if name != without}
    path.unlink()
    save_file({**state, **tensors}, path, metadata={"format": "pt"})


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


REMOTE = {"AutoModel": "modeling_own.OwnModel"}
LAYER = "bert.encoder.layer.2.attention.self.query.bias"
MISSING = "bert.embeddings.word_embeddings.weight"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(
            lambda d: (d / "config.json").write_text("{"), "CheckpointCorrupt.*no JSON", id="json"
        ),
        pytest.param(
            lambda d: (d / "config.json").write_text("[]"), "holds a list", id="no object"
        ),
        pytest.param(
            lambda d: edit(d, model_type="own"), "FormatUnknown.*'own'", id="unknown type"
        ),
        pytest.param(
            lambda d: edit(d, model_type="own", auto_map=REMOTE),
            "UnsafeCheckpoint.*modeling_own.OwnModel",
            id="code beside the weights",
        ),
        pytest.param(
            lambda d: edit(d, architectures=["OwnModel"]),
            "FactoryNotFound.*OwnModel",
            id="unknown architecture",
        ),
        pytest.param(
            lambda d: edit(d, architectures=["pipeline"]), "FactoryNotFound", id="not a model"
        ),
        pytest.param(
            lambda d: edit(d, hidden_size="wide"), "FactoryFailed.*config.json", id="bad value"
        ),
        pytest.param(
            lambda d: edit(d, hidden_size=8),
            r"StateDictMismatch.*different: .*\(512, 16\)",
            id="size",
        ),
        pytest.param(
            lambda d: edit(d, num_hidden_layers=3),
            "StateDictMismatch.*missing.*bert.encoder.layer.2",
            id="a layer is missing",
        ),
        pytest.param(
            lambda d: add(d, {LAYER: torch.ones(16)}),
            f"StateDictMismatch.*not in the module: {LAYER}",
            id="a layer too many",
        ),
        pytest.param(
            lambda d: add(d, {}, without=MISSING), f"StateDictMismatch.*{MISSING}", id="missing"
        ),
        pytest.param(
            lambda d: cut(d / "model.safetensors"), "CheckpointCorrupt.*bytes", id="cut weights"
        ),
        pytest.param(
            lambda d: edit(d, quantization_config={"quant_method": "gptq", "bits": 4}),
            "FactoryFailed",
            id="quantized",
        ),
    ],
)
def test_a_directory_is_refused(
    damage: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    directory = saved(bert(), tmp_path)
    damage(directory)
    text = refused(directory, tmp_path)
    assert re.search(said, text), text


@pytest.mark.parametrize("name", ["trust_remote_code", "device_map", "no_such_value"])
def test_kwargs_that_nobody_knows(name: str, tmp_path: Path) -> None:
    text = refused(saved(bert(), tmp_path), tmp_path, kwargs={name: True})
    assert f"model.kwargs has {name}" in text


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("cls.weight", True),
        ("body.pooler.weight", True),
        ("body.0.extra.weight", True),
        ("body.2.weight", False),
        ("body.0.bias", False),
        ("scale", False),
    ],
)
def test_a_missing_part_is_distinguished_from_another_architecture(name: str, head: bool) -> None:
    model = torch.nn.ModuleDict({"body": torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False))})
    assert is_a_head(model, name) is head
