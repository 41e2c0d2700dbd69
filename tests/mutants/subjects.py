"""The models of the suite: small, and as unlike each other as users' models are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from modelexport_exporter.core.types import Rung
from models import catalog, digits, minilm
from mutants.subject import SEEDS, Subject
from seeds.case import integers, tensor

BATCH = {"batch": (1, 9)}
SIZED = {**BATCH, "height": (8, 40), "width": (8, 40)}
STEPS = {**BATCH, "time": (1, 24)}


def traced(subject: Subject) -> Subject:
    """Return the subject exported through TorchScript."""
    return replace(subject, rung=Rung.TRACE)


def image(*shape: int | str, low: float | None = None, high: float | None = None) -> Any:  # noqa: ANN401
    """Return an input of images."""
    return tensor("image", "batch", *shape, low=low, high=high)


TRAINED = (
    Subject(
        "digits",
        catalog.DIGITS.factory,
        catalog.DIGITS.inputs,
        {"batch": (1, 32)},
        outputs=("logits",),
        code=digits.EXAMPLE,
        write=digits.write_checkpoint,
    ),
    Subject(
        "minilm",
        catalog.MINILM.factory,
        catalog.MINILM.inputs,
        {"batch": (1, 3), "seq": (1, 16)},
        minilm.config(),
        ("sentence_embedding",),
        code=catalog.MINILM.code.parent,
        write=minilm.write_checkpoint,
        samples=12,
    ),
)

IMAGES = (
    traced(Subject("residual", "vision:Residual", (image(3, 32, 32),), BATCH)),
    Subject("depthwise", "vision:Depthwise", (image(3, "height", "width"),), SIZED),
    traced(Subject("segmentation", "vision:Segmentation", (image(3, "height", "width"),), SIZED)),
    Subject(
        "upscaler",
        "vision:Upscaler",
        (image(2, "height", "width", low=0, high=1),),
        {**BATCH, "height": (6, 24), "width": (6, 24)},
    ),
    Subject("autoencoder", "vision:Autoencoder", (image(1, 16, 16, low=0, high=1),), BATCH),
    traced(
        Subject("norms", "vision:Norms", (image(4, "height", 6),), {**BATCH, "height": (3, 20)})
    ),
    Subject("detector", "vision:Detector", (tensor("image", 1, 3, 16, 16, low=0, high=1),)),
    Subject("pooled", "vision:Pooled", (image(2, "height", "width"),), SIZED),
    Subject(
        "gated-convolution",
        "everyday:GatedConvolution",
        (tensor("x", "batch", 4, "time"),),
        {**BATCH, "time": (6, 40)},
        code=SEEDS,
    ),
)

WORDS = integers("words", "batch", "time", high=39)
MASK = integers("mask", "batch", "time", high=1)
TEXT = (
    traced(Subject("encoder", "text:Encoder", (WORDS, MASK), STEPS)),
    Subject(
        "decoder",
        "text:Decoder",
        (
            integers("words", "batch", "new", high=29),
            tensor("past_key", "batch", 3, "past", 4),
            tensor("past_value", "batch", 3, "past", 4),
        ),
        {**BATCH, "new": (1, 8), "past": (1, 40)},
    ),
    Subject("rotary", "text:Rotary", (integers("words", "batch", "time", high=49),), STEPS),
    traced(
        Subject(
            "tagger",
            "recurrent:Tagger",
            (integers("words", "batch", "time", high=19),),
            STEPS,
            code=SEEDS,
        )
    ),
    traced(Subject("gated", "text:Gated", (tensor("series", "batch", "time", 3),), STEPS)),
    Subject(
        "bags",
        "text:Pooling",
        (integers("words", "time", high=59), integers("bags", "time", high=7)),
        {"time": (1, 50)},
    ),
    Subject(
        "attention-pooling",
        "text:AttentionPooling",
        (tensor("steps", "batch", "time", 5), integers("length", "batch", low=1, high=30)),
        STEPS,
    ),
)

ROWS = (
    Subject("heads", "tables:Heads", (tensor("x", "batch", 6),), BATCH),
    Subject(
        "ranker",
        "tables:Ranker",
        (tensor("query", "batch", 4), tensor("documents", "batch", "found", 4)),
        {**BATCH, "found": (2, 30)},
    ),
    Subject(
        "graph",
        "tables:Graph",
        (
            tensor("nodes", "nodes", 4),
            integers("source", "edges", high=7),
            integers("target", "edges", high=7),
        ),
        {"nodes": (8, 30), "edges": (1, 60)},
    ),
    traced(
        Subject(
            "tabular",
            "tables:Tabular",
            (
                integers("shop", "batch", high=199),
                integers("day", "batch", high=6),
                integers("age", "batch", high=99),
                tensor("numbers", "batch", 2, low=0, high=100),
            ),
            {"batch": (1, 40)},
        )
    ),
    Subject("missing", "tables:Missing", (tensor("amounts", "batch", 5),), BATCH),
    Subject(
        "rolling",
        "tables:Rolling",
        (tensor("series", "batch", "time"),),
        {**BATCH, "time": (9, 60)},
    ),
    Subject("cumulative", "tables:Cumulative", (tensor("steps", "batch", "time", 4),), STEPS),
    Subject("summary", "tables:Summary", (tensor("x", "rows", 5),), {"rows": (2, 30)}),
    traced(
        Subject(
            "orbit",
            "tables:Orbit",
            (
                tensor("place", "batch", 3, 2, dtype="float64"),
                tensor("speed", "batch", 3, 2, dtype="float64"),
            ),
            BATCH,
        )
    ),
    Subject("half", "tables:Half", (tensor("x", "batch", 6, dtype="float16"),), BATCH),
    Subject("thresholds", "tables:Thresholds", (tensor("x", "batch", 5),), BATCH),
    traced(
        Subject(
            "calendar",
            "tables:Calendar",
            (
                integers("day", "batch", low=-20000, high=20000),
                integers("period", "batch", low=2, high=400),
            ),
            BATCH,
        )
    ),
)

SUBJECTS = (*TRAINED, *(replace(subject, samples=50) for subject in IMAGES), *TEXT, *ROWS)
