"""Files whose shapes are wrong at one size of a model that is too slow to run at all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper, parser

from modelexport_api.status import Verdict
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.verification.verdict import describe_mismatch
from modelexport_exporter.workers import one_verification
from modelexport_exporter.workers.verify import verify_model
from models.catalog import CODE, RealModel
from models.exporting import Damage, convert, silent, task_for

SEQ, BATCH = 512, 8
WRONG_AT = 301


def encoder(width: int) -> RealModel:
    def write(path: Path) -> None:
        namespace: dict[str, Any] = {"__name__": "token_encoder"}
        code = CODE / "token_encoder.py"
        exec(compile(code.read_text(), str(code), "exec"), namespace)
        torch.manual_seed(0)
        torch.save(namespace["TokenEncoder"](width).state_dict(), path)

    return RealModel(
        name=f"token-encoder-{width}",
        factory="token_encoder:TokenEncoder",
        code=CODE / "token_encoder.py",
        inputs=[{"name": "ids", "dtype": "int64", "shape": ["batch", "seq"], "range": [0, 999]}],
        dims={"batch": {"min": 1, "max": BATCH}, "seq": {"min": 1, "max": SEQ}},
        outputs=["scores"],
        checkpoint_name="model.pt",
        write=write,
        kwargs={"width": width},
    )


def one_token_less(model: onnx.ModelProto) -> None:
    """The last token is lost where there are 301, by arithmetic without a comparison."""
    graph = model.graph
    for node in graph.node:
        node.output[:] = ["whole" if name == "scores" else name for name in node.output]
    lines = [
        "seq = Shape<start=1, end=2>(ids)",
        "distance = Sub(seq, wrong_at)",
        "square = Mul(distance, distance)",
        "is_right = Sign(square)",
        "all_but_one = Sub(seq, of_tokens)",
        "kept = Add(all_but_one, is_right)",
        "scores = Slice(whole, from_first, kept, of_tokens)",
    ]
    graph.node.extend(map(parser.parse_node, lines))
    numbers = {"wrong_at": WRONG_AT, "from_first": 0, "of_tokens": 1}
    graph.initializer.extend(
        numpy_helper.from_array(np.array([value]), name) for name, value in numbers.items()
    )


def verified(tmp_path: Path, damage: Damage | None = None) -> VerificationOutcome:
    task = task_for(encoder(16), tmp_path)
    return verify_model(task, convert(task, damage=damage), silent)


@pytest.fixture
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a model of which no further sizes can be run."""
    monkeypatch.setattr(time_shares, "LIKELY_SIZES_SECONDS", -1.0)
    monkeypatch.setattr(time_shares, "EVERY_SIZE_SECONDS", -1.0)
    monkeypatch.setattr(time_shares, "NAMED_SECONDS", -1.0)
    monkeypatch.setattr(time_shares, "NAMED_SHARE", -1.0)
    monkeypatch.setattr(time_shares, "MORE_WITHIN_SECONDS", -1.0)


@pytest.mark.usefixtures("_slow")
@pytest.mark.parametrize("seconds", [600.0, 0.0], ids=["time is left", "no time is left"])
def test_a_shape_that_is_wrong_at_one_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", seconds)
    outcome = verified(tmp_path, one_token_less)
    assert outcome.summary.verdict is Verdict.MISMATCH
    assert f"seq={WRONG_AT}" in describe_mismatch(outcome)[0]
    assert "shape is" in describe_mismatch(outcome)[0]


@pytest.mark.usefixtures("_slow")
def test_a_slow_model_runs_in_the_middle_and_shapes_are_compared_at_all_sizes(
    tmp_path: Path,
) -> None:
    outcome = verified(tmp_path)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert {"batch": 1, "seq": 257} in [sample.dims for sample in outcome.samples]
    batches, tokens = outcome.summary.coverage[:2]
    assert batches.endswith(f"of {BATCH} sizes of batch; shapes at all")
    assert tokens.endswith(f"of {SEQ} sizes of seq; shapes at all")


def test_terminal_and_report_say_what_was_covered(tmp_path: Path) -> None:
    model = encoder(128)
    checkpoint = model.checkpoint(tmp_path)
    manifest = model.manifest(f"file://{checkpoint}", f"file://{CODE}/", f"file://{tmp_path}/out/")
    (tmp_path / "encoder.json").write_text(json.dumps(manifest))
    done = subprocess.run(
        [sys.executable, "-m", "modelexport_cli.main", "run", str(tmp_path / "encoder.json")],
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    tokens = next(text for text in report["verification"]["coverage"] if "seq" in text)
    count, _, rest = tokens.partition(" ")
    assert rest == f"of {SEQ} sizes of seq; shapes at all"
    assert int(count) >= 6, "the ends, the middle, primes, and likely ones"
    assert tokens in done.stdout
    assert tokens in (tmp_path / "out" / "report.html").read_text()
    ran = {sample["dims"]["seq"] for sample in report["samples"]}
    assert {1, 257, 512} <= ran
