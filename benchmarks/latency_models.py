"""Twenty networks of torchvision and transformers; their weights are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torchvision
import transformers

TOKENS, WORDS = 64, 1000


@dataclass(frozen=True)
class Network:
    """A network, an example of two rows, and what the spec says of its inputs."""

    name: str
    build: Callable[[], torch.nn.Module]
    example: Callable[[], torch.Tensor]
    declared: str
    """As `--input` of the command takes it; the first dim is the batch."""


class _First(torch.nn.Module):
    """A network of several outputs, of which one is used."""

    def __init__(self, network: torch.nn.Module, output: str) -> None:
        super().__init__()
        self.network, self.output = network, output

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return one output."""
        found: torch.Tensor = self.network(x)[self.output]
        return found


def _image(name: str, size: int = 224, output: str | None = None) -> Network:
    def build() -> torch.nn.Module:
        kwargs = {} if output is None else {"weights_backbone": None}
        network = torchvision.models.get_model(name, weights=None, **kwargs)
        return network if output is None else _First(network, output)

    declared = f"x:float32[batch,3,{size},{size}]:-2.5..2.5"
    return Network(name, build, lambda: torch.randn(2, 3, size, size), declared)


def _model(config: Any) -> torch.nn.Module:  # noqa: ANN401
    module: torch.nn.Module = transformers.AutoModel.from_config(config)  # type: ignore[no-untyped-call]
    return module


def _text(name: str, config: Callable[[], Any]) -> Network:
    def build() -> torch.nn.Module:
        return _First(_model(config()), "last_hidden_state")

    declared = f"x:int64[batch,{TOKENS}]:0..{WORDS - 1}"
    return Network(name, build, lambda: torch.randint(WORDS, (2, TOKENS)), declared)


def _pixels(name: str, config: Callable[[], Any], size: int = 224) -> Network:
    def build() -> torch.nn.Module:
        return _First(_model(config()), "last_hidden_state")

    declared = f"x:float32[batch,3,{size},{size}]:-2.5..2.5"
    return Network(name, build, lambda: torch.randn(2, 3, size, size), declared)


def _encoder(config: type, **kwargs: int | list[str]) -> Callable[[], Any]:
    sizes: dict[str, Any] = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4}
    return lambda: config(vocab_size=WORDS, **{**sizes, "intermediate_size": 1024, **kwargs})


def _gpt2() -> Any:  # noqa: ANN401
    return transformers.GPT2Config(
        vocab_size=WORDS, n_embd=256, n_layer=4, n_head=4, use_cache=False
    )


def _llama() -> Any:  # noqa: ANN401
    config = _encoder(transformers.LlamaConfig, num_key_value_heads=2)()
    config.use_cache = False
    return config


def _distilbert() -> Any:  # noqa: ANN401
    return transformers.DistilBertConfig(
        vocab_size=WORDS, dim=256, n_layers=4, n_heads=4, hidden_dim=1024
    )


def _deberta() -> Any:  # noqa: ANN401
    return _encoder(
        transformers.DebertaV2Config, relative_attention=True, pos_att_type=["p2c", "c2p"]
    )()


NETWORKS = (
    _image("resnet18"),
    _image("resnet50"),
    _image("mobilenet_v2"),
    _image("mobilenet_v3_small"),
    _image("efficientnet_b0"),
    _image("squeezenet1_1"),
    _image("shufflenet_v2_x1_0"),
    _image("regnet_y_400mf"),
    _image("densenet121"),
    _image("convnext_tiny"),
    _image("swin_t"),
    _image("deeplabv3_mobilenet_v3_large", output="out"),
    _image("lraspp_mobilenet_v3_large", output="out"),
    _pixels("vit", _encoder(transformers.ViTConfig)),
    _pixels("segformer", transformers.SegformerConfig),
    _text("bert", _encoder(transformers.BertConfig)),
    _text("distilbert", _distilbert),
    _text("deberta-v2", _deberta),
    _text("gpt2", _gpt2),
    _text("llama", _llama),
)
