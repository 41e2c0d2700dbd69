"""Outputs that the spec does not name are called as forward calls them, whatever the route."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.types import Rung
from modelexport_exporter.workers.export import export_model
from zoo.code import returning
from zoo.tasks import BATCH, spec_for, task_for

INPUTS = [{"name": "x", "shape": ["batch", 4]}]
TOKENS = {"dtype": "int64", "shape": ["batch", "seq"]}
SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}
EXPECTED = {
    "Tensor": ["output_0"],
    "List": ["output_0", "output_1"],
    "Dict": ["logits", "output_x"],
    "NamedTuple": ["mean", "scale"],
    "Dataclass": ["boxes", "parts.0", "parts.1"],
    "Nested": ["output_0", "aux", "all.0", "all.1.sum"],
    "Twice": ["first", "second"],
}


def exported(container: str, rung: Rung, tmp_path: Path, **model: object) -> list[str]:
    """Return the names of a file's outputs."""
    torch.save(returning.build(container).state_dict(), tmp_path / "model.pt")
    spec = spec_for("returning:build", inputs=INPUTS, dims=BATCH, kwargs={"container": container})
    assert spec.model is not None
    spec = spec.model_copy(update={"model": spec.model.model_copy(update=model)})
    task = task_for(spec, tmp_path / "model.pt", tmp_path, rung)
    return [value.name for value in export_model(task, silent).outputs]


@pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.DYNAMO_BY_SIZE, Rung.TRACE])
@pytest.mark.parametrize("container", EXPECTED)
def test_keys_and_fields_name_the_outputs_on_all_routes(
    container: str, rung: Rung, tmp_path: Path
) -> None:
    assert exported(container, rung, tmp_path) == EXPECTED[container]


def test_paths_by_values_have_the_same_names(tmp_path: Path) -> None:
    assert exported("Deciding", Rung.DYNAMO_BY_VALUE, tmp_path) == ["hidden", "norm"]


@pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.TRACE])
def test_a_state_keeps_its_name(rung: Rung, tmp_path: Path) -> None:
    names = exported("Counting", rung, tmp_path, state=["calls"])
    assert names == ["output_next_calls", "logits", "next_calls"]


def test_a_script_and_an_archive_of_it(tmp_path: Path) -> None:
    class Pair(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x.relu(), x.tanh()

    torch.jit.save(torch.jit.script(Pair()), tmp_path / "model.pt")
    task = task_for(spec_for(inputs=INPUTS, dims=BATCH), tmp_path / "model.pt", tmp_path)
    names = [value.name for value in export_model(task, silent).outputs]
    assert names == ["output_0", "output_1"]


def test_an_exported_program(tmp_path: Path) -> None:
    dim = torch.export.Dim("batch", max=64)
    program = torch.export.export(
        returning.Returning("Dict").eval(), (torch.ones(3, 4),), dynamic_shapes=({0: dim},)
    )
    torch.export.save(program, tmp_path / "model.pt2")
    task = task_for(spec_for(inputs=INPUTS, dims=BATCH), tmp_path / "model.pt2", tmp_path)
    assert [value.name for value in export_model(task, silent).outputs] == ["logits", "output_x"]


def bert() -> Any:  # noqa: ANN401 - the library's
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(**SIZES, max_position_embeddings=32))


def gpt2() -> Any:  # noqa: ANN401
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes: dict[str, Any] = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32}
    return GPT2LMHeadModel(GPT2Config(**sizes, vocab_size=50, bos_token_id=0, eos_token_id=0))


@pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.TRACE])
@pytest.mark.parametrize(
    ("build", "kwargs", "names"),
    [
        pytest.param(
            bert,
            {"output_hidden_states": True},
            ["last_hidden_state", "pooler_output", *(f"hidden_states.{n}" for n in range(3))],
            id="an encoder",
        ),
        pytest.param(
            gpt2,
            {"use_cache": True},
            ["logits", *(f"past_key_values.{n}.{p}" for p in ("key", "value") for n in (0, 1))],
            id="a decoder with its cache",
        ),
    ],
)
def test_hugging_face_models_call_them_as_their_output_class_does(
    build: Any,  # noqa: ANN401
    kwargs: dict[str, object],
    names: list[str],
    rung: Rung,
    tmp_path: Path,
) -> None:
    build().save_pretrained(tmp_path / "model")
    dims = {"batch": {"min": 1, "max": 4}, "seq": {"min": 2, "max": 16}}
    inputs = [{"name": "input_ids", **TOKENS, "range": [0, 49]}]
    spec = spec_for(inputs=inputs, dims=dims)
    document = spec.to_wire() | {"model": {"kwargs": kwargs}}
    task = task_for(type(spec).model_validate(document), tmp_path / "model", tmp_path, rung)
    assert [value.name for value in export_model(task, silent).outputs] == names
