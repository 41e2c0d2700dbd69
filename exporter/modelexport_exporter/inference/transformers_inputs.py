"""The inputs of a model of transformers, from its config and the files next to its weights."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from modelexport_api.spec import DType, InputKind
from modelexport_exporter.core.bounded_json import read_json
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses

_TOKENIZER = "tokenizer_config.json"
_SOUND = "input_values.1"
_SECOND_OF_SOUND = 16_000
"""Samples, at the rate that models of speech are trained with."""


def is_from_transformers(module: torch.nn.Module) -> bool:
    """Return whether a module is a model of transformers, which has a config."""
    return hasattr(module, "config") and hasattr(module, "main_input_name")


def transformers_guess(
    module: Any,  # noqa: ANN401 - a PreTrainedModel
    directory: Path,
    floating: DType,
) -> Guesses:
    """Return the inputs that the model's class and config name."""
    parameters = set(inspect.signature(module.forward).parameters)
    config = module.config
    inputs: list[Guess] = []
    sizes: dict[str, int] = {BATCH: 3}
    main = str(module.main_input_name)
    for name in _names(module, main, parameters, directory):
        guess, fixed = _guess(name, config, floating)
        inputs.append(guess)
        sizes |= fixed
    known = frozenset(axis for axis in sizes if axis not in {BATCH, _SOUND})
    return Guesses(tuple(inputs), sizes, known).with_sizes_of(
        axis for one in inputs for axis in one.axes
    )


def without_decoder(guesses: Guesses) -> Guesses:
    """Return the inputs of a model that makes those of its decoder itself."""
    kept = tuple(one for one in guesses.inputs if not one.name.startswith("decoder_"))
    return replace(guesses, inputs=kept)


def _names(module: Any, main: str, parameters: set[str], directory: Path) -> Iterator[str]:  # noqa: ANN401
    """Yield the inputs that users pass: the main one, its mask, and what the tokenizer makes."""
    config = module.config
    names = [main]
    for other in ("input_ids", "pixel_values", "input_features", "input_values"):
        needed = other in parameters and _has_part(config, other)
        if needed and other not in names and _is_joint(config):
            names.append(other)
    tokenizer = _tokenizer_inputs(directory)
    if "input_ids" in names:
        names.append("attention_mask")
        many_types = int(getattr(config, "type_vocab_size", 0) or 0) > 1
        if many_types and (tokenizer is None or "token_type_ids" in tokenizer):
            names.append("token_type_ids")
    if getattr(config, "is_encoder_decoder", False):
        names.append("decoder_input_ids")
    return (name for name in dict.fromkeys(names) if name in parameters)


def _is_joint(config: Any) -> bool:  # noqa: ANN401
    """Return whether a model takes text and pictures."""
    return hasattr(config, "text_config") and hasattr(config, "vision_config")


def _has_part(config: Any, name: str) -> bool:  # noqa: ANN401
    return {"input_ids": "text_config", "pixel_values": "vision_config"}.get(name, "") in vars(
        config
    )


def _tokenizer_inputs(directory: Path) -> list[str] | None:
    """Return the names that the tokenizer next to the weights makes; None if it states none."""
    try:
        content = read_json((directory / _TOKENIZER).read_bytes())
    except (OSError, ValueError):
        return None
    names = content.get("model_input_names") if isinstance(content, Mapping) else None
    return [str(name) for name in names] if isinstance(names, list) else None


def _guess(name: str, config: Any, floating: DType) -> tuple[Guess, dict[str, int]]:  # noqa: ANN401
    text = getattr(config, "text_config", None) or config
    vision = getattr(config, "vision_config", None) or config
    prefix = "decoder_" if name.startswith("decoder_") else ""
    rows = (BATCH, f"{prefix}sequence")
    if name.endswith("input_ids"):
        vocabulary = int(getattr(text, "vocab_size", None) or 2)
        return Guess(name, DType.INT64, rows, range=(0.0, float(vocabulary - 1))), {}
    if name == "attention_mask":
        return Guess(name, DType.INT64, rows, InputKind.ATTENTION_MASK), {}
    if name == "token_type_ids":
        types = int(getattr(text, "type_vocab_size", 2))
        return Guess(name, DType.INT64, rows, range=(0.0, float(types - 1))), {}
    if name == "pixel_values":
        size = getattr(vision, "image_size", None) or 224
        height, width = (size, size) if isinstance(size, int) else tuple(size)[-2:]
        fixed = {
            "pixel_values.1": int(getattr(vision, "num_channels", None) or 3),
            "pixel_values.2": int(height),
            "pixel_values.3": int(width),
        }
        return Guess(name, floating, (BATCH, *fixed)), fixed
    if name == "input_features":
        bins = int(
            getattr(config, "num_mel_bins", None) or getattr(config, "feature_size", None) or 80
        )
        frames = 2 * int(getattr(config, "max_source_positions", None) or 100)
        fixed = {"input_features.1": bins, "input_features.2": frames}
        return Guess(name, floating, (BATCH, *fixed)), fixed
    return Guess(name, floating, (BATCH, _SOUND)), {_SOUND: _SECOND_OF_SOUND}
