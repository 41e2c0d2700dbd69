"""Architectures of the transformers library as it stores them, with free batch and sequence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_api.reasons import Reason
from seeds.case import Case, Refusal, integers, refused, tensor
from seeds.harness import Bench, each

FREE = {"batch": (1, 6), "seq": (2, 24)}
TOKENS = integers("input_ids", "batch", "seq", low=3, high=59)
MASK = integers("attention_mask", "batch", "seq", high=1)
REPLIES = integers("decoder_input_ids", "batch", "reply", low=3, high=59)
PIXELS = tensor("pixel_values", "batch", 3, 32, 32)
SOUND = tensor("input_features", "batch", 8, 40)


def by_name(module: torch.nn.Module, feed: Mapping[str, torch.Tensor]) -> object:
    return module(**feed)


def as_directory(module: Any, directory: Path) -> Path:  # noqa: ANN401
    """Write config.json and safetensors, as the library does."""
    path = directory / "model"
    module.save_pretrained(path)
    return path


def family(
    name: str,
    *inputs: Mapping[str, Any],
    label: str = "",
    or_refused: Refusal | None = None,
    **dims: tuple[int, int],
) -> Case:
    """Return a case; where it comes from is a directory of the library's."""
    used = {size for entry in inputs for size in entry["shape"] if isinstance(size, str)}
    free = {name: limits for name, limits in {**FREE, **dims}.items() if name in used}
    return Case(
        "",
        f"transformers_{label or name}",
        "transformers_models:build",
        inputs,
        free,
        {"name": name},
        model={"factory": None, "kwargs": {}},
        source={"format": "HuggingFace"},
        edges=(),
        rtol=2e-3,
        nightly=True,
        checkpoint=as_directory,
        call=by_name,
        or_refused=or_refused,
    )


UNROLLED = refused(Reason.DYNAMIC_DIM_SPECIALIZED, words=["input_ids dim 1 (seq)"])
"""The library's own loop over the sequence is Python's."""
ENCODERS = ("roberta", "distilbert", "albert", "electra", "deberta-v2")
DECODERS = (
    "gpt2",
    "gpt-neo",
    "opt",
    "llama",
    "mistral",
    "qwen2",
    "gemma",
    "phi",
    "bloom",
    "falcon",
    "mixtral",
    "llama4",
)
CASES = (
    family("bert", TOKENS, MASK),
    *(family(name, TOKENS) for name in (*ENCODERS, *DECODERS)),
    family("mamba", TOKENS, or_refused=UNROLLED),
    family("mamba", integers("input_ids", "batch", 7, low=3, high=59), label="mamba_of_7_tokens"),
    family("t5", TOKENS, REPLIES, reply=(2, 12)),
    family("bart", TOKENS, REPLIES, reply=(2, 12)),
    family("whisper-encoder", SOUND),
    family("vit", PIXELS),
    family("clip", TOKENS, PIXELS),
)


@pytest.mark.parametrize("case", each(CASES))
def test_architecture(case: Case, bench: Bench) -> None:
    bench.check(case)
