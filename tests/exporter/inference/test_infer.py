"""Inputs and dims of real modules, found by running them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_api.spec import Dim, DType, Format, InputKind
from modelexport_exporter.checkpoint.load import LoadedModel
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.proposal import Proposal, Stated, StatedInput
from modelexport_exporter.inference import infer as infer_module
from modelexport_exporter.inference.infer import infer
from zoo.code import undescribed as models


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a slow machine find what a fast one finds."""
    monkeypatch.setattr(infer_module, "SEARCH_SECONDS", 500.0)
    monkeypatch.setattr(infer_module, "EXTENT_SECONDS", 500.0)


def found(
    module: torch.nn.Module,
    stated: Stated = Stated(),  # noqa: B008
    arguments: Any = None,  # noqa: ANN401
    program: torch.export.ExportedProgram | None = None,
    beside: Path = Path("nowhere"),
) -> Proposal:
    torch.manual_seed(0)
    loaded = LoadedModel(Format.STATE_DICT, module.eval() if program is None else module, program)
    return infer(loaded, stated, beside, lambda *_: None, arguments)


def described(proposal: Proposal) -> list[str]:
    inputs = [
        f"{entry.name}: {entry.dtype.value}[{', '.join(map(str, entry.shape))}]"
        + ("" if entry.kind.value == "Tensor" else f" {entry.kind.value}")
        + (f" {entry.range[0]:.0f}..{entry.range[1]:.0f}" if entry.range else "")
        for entry in proposal.inputs
    ]
    return [*inputs, *(f"{name}={dim.min}..{dim.max}" for name, dim in proposal.dims.items())]


SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
BATCH = "batch=1..32"
LENGTH = "sequence=1..512"


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (models.LeNet, ["x: float32[batch, 1, 28, 28]", BATCH]),
        (
            models.Tokens,
            [
                "ids: int64[batch, sequence] 0..999",
                "padding_mask: bool[batch, sequence] PaddingMask",
                BATCH,
                "sequence=1..128",
            ],
        ),
        (models.Recurrent, ["x: float32[batch, sequence, 10]", BATCH, LENGTH]),
        (
            models.Factors,
            [
                "user: int64[batch, sequence] 0..49",
                "item: int64[batch, sequence] 0..69",
                BATCH,
                LENGTH,
            ],
        ),
        (
            models.UNet,
            [
                "image: float32[batch, 3, 4 * height, 4 * width]",
                BATCH,
                "height=1..64",
                "width=1..64",
            ],
        ),
        (models.Patches, ["img: float32[batch, 3, 224, 224]", BATCH]),
        (
            models.Graph,
            [
                "x: float32[batch, 16]",
                "edge_index: int64[2, sequence] 0..2",
                "batch=2..32",
                LENGTH,
            ],
        ),
        (
            models.Table,
            [
                "x_cat: int64[batch, sequence] 0..2",
                "x_num: float32[batch, 5]",
                BATCH,
                "sequence=3..512",
            ],
        ),
        (models.Waves, ["wav: float32[batch, sequence]", BATCH, "sequence=10..512"]),
        (
            models.Translator,
            [
                "src: int64[batch, sequence] 0..99",
                "tgt: int64[batch, tgt_sequence] 0..89",
                BATCH,
                LENGTH,
                "tgt_sequence=1..512",
            ],
        ),
        (models.Asserted, ["x: float32[batch, 3, 48, 48]", BATCH]),
        (
            models.Scaled,
            ["parts: float32[batch, 4] Sequence", "power: int64[] Int", BATCH],
        ),
        (models.Half, ["x: float64[batch, 6]", BATCH]),
    ],
)
def test_inputs_are_found_without_a_word(
    module: type[torch.nn.Module], expected: list[str]
) -> None:
    assert described(found(module())) == expected


@pytest.mark.parametrize("module", [models.LeNet, models.Recurrent])
def test_a_script_tells_its_weights_only(module: type[torch.nn.Module]) -> None:
    script = torch.jit.script(module().eval())
    assert described(found(script)) == described(found(module()))


def test_what_the_user_states_stays() -> None:
    own = StatedInput("ids", DType.INT64, ("n", "seq"), (0.0, 9.0))
    stated = Stated((own,), {"seq": Dim(min=2, max=16)})
    proposal = found(models.Tokens(), stated)
    assert described(proposal) == [
        "ids: int64[n, seq] 0..9",
        "padding_mask: bool[n, seq] PaddingMask",
        "seq=2..16",
        "n=1..32",
    ]
    assert {one.field for one in proposal.inferred if one.field.startswith("inputs[0]")} == set()


class WeightedSum(torch.nn.Module):
    """Weights that are multiplied with the frames: a weight of each, or one of all."""

    def forward(self, frames: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return (frames * weight[..., None]).sum(1) / weight.sum(1, keepdim=True).exp()


def test_an_input_that_is_not_stated_has_the_dim_that_it_shares() -> None:
    own = StatedInput("frames", DType.FLOAT32, ("n", "length", 6))
    stated = Stated((own,), {"length": Dim(min=2, max=40)})
    assert described(found(WeightedSum(), stated)) == [
        "frames: float32[n, length, 6]",
        "weight: float32[n, length]",
        "length=2..40",
        "n=1..32",
    ]


def test_a_dtype_is_found_for_an_input_of_which_the_rest_is_stated() -> None:
    own = StatedInput("x_num", None, ("batch", 5), (0.0, 2100.0))
    proposal = found(models.Table(), Stated((own,)))
    assert described(proposal)[1] == "x_num: float32[batch, 5] 0..2100"


def test_bytes_have_all_of_their_values() -> None:
    class Pixels(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x.float() - 127.5) / 127.5

    stated = Stated(inputs=(StatedInput("x", dtype=DType.UINT8, shape=("batch", 4)),))
    assert described(found(Pixels(), stated)) == ["x: uint8[batch, 4] 0..255", BATCH]


def test_a_mask_that_is_stated_by_its_kind_is_boolean() -> None:
    own = StatedInput("padding_mask", kind=InputKind.PADDING_MASK)
    proposal = found(models.Tokens(), Stated((own,)))
    assert described(proposal)[1] == "padding_mask: bool[batch, sequence] PaddingMask"


def test_a_dim_that_no_input_has_is_refused_with_those_found() -> None:
    with pytest.raises(ExportFailure, match="no input has a dim named seq; the dims found are"):
        found(models.Recurrent(), Stated((), {"seq": Dim(max=16)}))


def test_inputs_that_are_not_found_are_asked_for() -> None:
    with pytest.raises(ExportFailure) as caught:
        found(models.Never())
    assert "forward(record)" in caught.value.message
    assert "AttributeError" in caught.value.message
    assert "--input 'record:float32[" in caught.value.hint


def test_a_parameter_that_is_not_stated_is_named() -> None:
    stated = StatedInput("ids", DType.INT64, ("batch", 4), (0.0, 9.0))
    with pytest.raises(ExportFailure, match=r"accepts \(language is not stated\), in") as caught:
        found(models.ByLanguage(), Stated((stated,)))
    assert "undescribed.py" in caught.value.message
    assert "no tensors become constants" in caught.value.hint


def test_what_is_stated_is_kept_where_forward_refuses_it() -> None:
    """The export names the line, and what forward accepts."""
    stated = StatedInput("input", DType.FLOAT32, ("rows", 5))
    proposal = found(torch.nn.Linear(4, 2), Stated((stated,)))
    assert described(proposal) == ["input: float32[rows, 5]", "rows=1..32"]
    [source] = [one.source for one in proposal.inferred]
    assert source == "forward accepts none that was tried"


def test_an_example_gives_the_first_sizes() -> None:
    arguments: Any = ((torch.randint(0, 999, (4, 16)), torch.zeros(4, 16, dtype=torch.bool)), {})
    proposal = found(models.Tokens(), arguments=arguments)
    assert described(proposal) == [
        "ids: int64[batch, sequence] 0..999",
        "padding_mask: bool[batch, sequence] PaddingMask",
        BATCH,
        "sequence=1..128",
    ]
    assert not proposal.keeps_example


def test_an_example_that_forward_refuses_is_to_be_corrected() -> None:
    with pytest.raises(ExportFailure, match=r"the example \(input: float32\[2, 5\]\)") as caught:
        found(torch.nn.Linear(4, 2), arguments=((torch.rand(2, 5),), {}))
    assert caught.value.hint == "Correct the example's shapes, dtypes and values."


def test_a_nested_example_has_dotted_names_and_constants() -> None:
    batch = {"x": torch.randn(1, 4), "y": torch.randn(1, 4)}
    arguments = ((batch,), {"scale": 2.0, "parts": [torch.randn(1, 4)]})
    proposal = found(models.Nested(), arguments=arguments)
    assert described(proposal) == [
        "batch.x: float32[batch, 4]",
        "batch.y: float32[batch, 4]",
        "scale: float32[] Constant",
        "parts.0: float32[batch, 4]",
        BATCH,
    ]
    assert proposal.inputs[2].value == 2.0


def test_an_exported_program_states_its_inputs() -> None:
    sizes = {"ids": {0: torch.export.Dim("n", max=8), 1: torch.export.Dim("s", min=2, max=99)}}
    ids = torch.zeros(2, 5, dtype=torch.int64)
    table = torch.nn.Embedding(20, 4)

    class Rows(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = table

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            rows: torch.Tensor = self.table(ids)
            return rows.sum(1)

    program = torch.export.export(Rows(), (ids,), dynamic_shapes=sizes)
    proposal = found(program.module(), program=program)
    assert described(proposal) == [
        "ids: int64[batch, sequence] 0..19",
        "batch=1..8",
        "sequence=2..99",
    ]


class TestTransformers:
    def of(self, name: str, beside: Path = Path("nowhere"), **config: Any) -> list[str]:  # noqa: ANN401
        import transformers

        kind = getattr(transformers, name)
        return described(found(kind(kind.config_class(**config)), beside=beside))

    def test_text(self) -> None:
        assert self.of("BertModel", vocab_size=500, **SMALL) == [
            "input_ids: int64[batch, sequence] 0..499",
            "attention_mask: int64[batch, sequence] AttentionMask",
            "token_type_ids: int64[batch, sequence] 0..1",
            BATCH,
            LENGTH,
        ]

    def test_what_shares_a_dim_with_a_stated_input_has_its_name(self) -> None:
        import transformers

        config = transformers.BloomConfig(vocab_size=500, n_layer=1, n_head=4, hidden_size=32)
        ids = StatedInput("input_ids", DType.INT64, ("rows", "words"), (0.0, 499.0))
        assert described(found(transformers.BloomForCausalLM(config), Stated((ids,))))[:2] == [
            "input_ids: int64[rows, words] 0..499",
            "attention_mask: int64[rows, words] AttentionMask",
        ]

    def test_a_mask_that_forward_does_not_read_is_no_input(self) -> None:
        small: dict[str, Any] = {
            "hidden_size": 32,
            "attention_hidden_size": 32,
            "num_hidden_layers": 2,
        }
        names = [line.split(":")[0] for line in self.of("RwkvModel", vocab_size=50, **small)]
        assert "input_ids" in names
        assert "attention_mask" not in names

    def test_a_mask_that_is_stated_keeps_its_dtype(self) -> None:
        import transformers

        mask = StatedInput("attention_mask", kind=InputKind.ATTENTION_MASK)
        model = transformers.BertModel(transformers.BertConfig(vocab_size=500, **SMALL))
        entry = "attention_mask: int64[batch, sequence] AttentionMask"
        assert entry in described(found(model, Stated((mask,))))

    def test_the_tokenizer_beside_the_weights_says_what_it_makes(self, tmp_path: Path) -> None:
        names = '{"model_input_names": ["input_ids", "attention_mask"]}'
        (tmp_path / "tokenizer_config.json").write_text(names)
        made = self.of("BertModel", tmp_path, vocab_size=500, **SMALL)
        assert not any(entry.startswith("token_type_ids") for entry in made)

    def test_pictures(self) -> None:
        assert self.of("ViTForImageClassification", image_size=64, patch_size=16, **SMALL) == [
            "pixel_values: float32[batch, 3, 64, 64]",
            BATCH,
        ]

    def test_text_and_pictures(self) -> None:
        text = {"vocab_size": 500, **SMALL}
        vision = {"image_size": 64, "patch_size": 16, **SMALL}
        made = self.of("CLIPModel", text_config=text, vision_config=vision, projection_dim=16)
        assert made == [
            "input_ids: int64[batch, sequence] 0..499",
            "pixel_values: float32[batch, 3, 64, 64]",
            "attention_mask: int64[batch, sequence] AttentionMask",
            BATCH,
            "sequence=1..77",
        ]

    def test_sound(self) -> None:
        made = self.of("Wav2Vec2ForCTC", vocab_size=32, conv_dim=[16] * 7, **SMALL)
        assert made[0] == "input_values: float32[batch, sequence]"

    def test_an_encoder_and_a_decoder(self) -> None:
        made = self.of(
            "T5ForConditionalGeneration",
            vocab_size=500, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, use_cache=False,
        )  # fmt: skip
        assert made[2] == "decoder_input_ids: int64[batch, decoder_input_ids_sequence] 0..499"
