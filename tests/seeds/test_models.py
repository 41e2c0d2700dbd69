"""The models that the documents name, with initial weights and free batch (and more) each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from seeds.case import Case, integers, refused, tensor
from seeds.harness import Bench, each

FEW = {"batch": (1, 5)}
TEXT = {"seq": (1, 20), "batch": (1, 12)}
TOKENS = integers("tokens", "seq", "batch", high=49)
HIDDEN = tensor("h", 2, "batch", 24)
CELL = tensor("c", 2, "batch", 24)
WORDS = "word_language_model:recurrent"
KEEPS_A_MASK = refused(
    Reason.RUNTIME_FAILED, Reason.VERIFICATION_FAILED, words=["word_language_model.py", "src_mask"]
)


def vision(rows: str, name: str, size: int, *, nightly: bool = False, **kwargs: Any) -> Case:  # noqa: ANN401
    """Return a case with one of torchvision's models on square images."""
    return Case(
        rows,
        name,
        "image_models:torchvision_model",
        (tensor("image", "batch", 3, size, size),),
        FEW,
        kwargs={"name": name, "num_classes": 10, **kwargs},
        outputs=("scores",),
        edges=(),
        rtol=2e-3,
        nightly=nightly,
    )


def image(rows: str, name: str, *inputs: Mapping[str, Any], **more: Any) -> Case:  # noqa: ANN401
    """Return a case with a model of code/image_models.py."""
    dims = {"batch": (1, 9), **more.pop("dims", {})}
    return Case(rows, name, f"image_models:{name}", inputs, dims, edges=(), rtol=2e-3, **more)


CASES = (
    vision("B1", "alexnet", 64),
    image("B2", "generator", tensor("z", "batch", 16, 1, 1)),
    image("B2", "discriminator", tensor("image", "batch", 3, 64, 64)),
    vision("B3", "densenet121", 32, nightly=True),
    vision("B4", "inception_v3", 75, init_weights=False, aux_logits=False, nightly=True),
    vision("B5", "resnet18", 64),
    vision("B5", "resnet50", 64, nightly=True),
    image(
        "B6",
        "super_resolution",
        tensor("x", "batch", 1, "height", "width"),
        dims={"height": (4, 48), "width": (4, 48)},
    ),
    image("B7", "vgg16", tensor("image", "batch", 3, 32, 32), kwargs={"batch_norm": False}),
    Case(
        "B7",
        "vgg16_with_batch_norm",
        "image_models:vgg16",
        (tensor("image", "batch", 3, 32, 32),),
        FEW,
        {"batch_norm": True},
        edges=(),
        rtol=2e-3,
        nightly=True,
    ),
    vision("B7", "vgg16_bn", 32, nightly=True),
    Case("B8", "words_lstm", WORDS, (TOKENS, HIDDEN, CELL), TEXT, {"kind": "LSTM"}),
    Case("B9", "words_gru", WORDS, (TOKENS, HIDDEN), TEXT, {"kind": "GRU"}),
    Case("B9", "words_rnn_tanh", WORDS, (TOKENS, HIDDEN), TEXT, {"kind": "RNN_TANH"}),
    Case("B9", "words_rnn_relu", WORDS, (TOKENS, HIDDEN), TEXT, {"kind": "RNN_RELU"}, nightly=True),
    Case("B10", "words_transformer", "word_language_model:transformer", (TOKENS,), TEXT),
)

TRACED = tuple(
    replace(
        case,
        name=f"{case.name}_traced",
        export={"exporter": "TorchScript"},
        nightly=True,
        # The Transformer keeps its mask on self, for the length that it saw last.
        or_refused=KEEPS_A_MASK if case.rows == "B10" else None,
    )
    for case in CASES
    if set(case.rows.split()) & {"B2", "B6", "B8", "B9", "B10"}
)


@pytest.mark.parametrize("case", each((*CASES, *TRACED)))
def test_model(case: Case, bench: Bench) -> None:
    bench.check(case)
