"""A sentence encoder of the transformers library, built from its config."""

from __future__ import annotations

from typing import Any

from torch import nn


def build(config: dict[str, Any]) -> nn.Module:
    from transformers import BertConfig, BertModel

    model: nn.Module = BertModel(BertConfig(**config))
    return model
