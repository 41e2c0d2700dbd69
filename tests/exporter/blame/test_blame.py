"""The node to blame, on real files: damaged in one known place, on every route."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from exporter.blame.blame_subjects import (
    CONV_NET,
    DECODER,
    ENCODER,
    LOOP,
    LSTM,
    MIXTURE,
    RESIDUAL,
    SUBJECTS,
    TOLERANCE,
    UNET,
    Exported,
    exported,
    line_of,
)
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Provider
from modelexport_exporter.blame import search
from modelexport_exporter.blame.record_onnx import LEVELS, OFF, Runtime
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.types import Rung
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.verification.runtime.session import Session
from models import catalog
from models.catalog import RealModel
from models.damages import Damage, damages
from models.exporting import forget_user_code
from seeds.harness import Lines

Make = Callable[[RealModel, Rung], Exported]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Exports models; forgets user code afterwards."""
    yield lambda model, rung: exported(model, tmp_path, rung)
    forget_user_code()
    sys.modules.pop("blamed", None)


@dataclass(frozen=True)
class Case:
    """A damage of a kind to the nth node of an operator, and what has to be blamed."""

    model: RealModel
    op: str
    kind: str
    aten: str
    module: str
    line: str
    nth: int = 0
    rungs: tuple[Rung, ...] = (Rung.DYNAMO, Rung.DYNAMO_STRICT, Rung.TRACE)
    proven: bool = True
    """An LSTM is hundreds of eager ops: its own result is not among those that are tried."""


CASES = {
    "a transposed kernel before a folded normalisation": Case(
        CONV_NET,
        *("Conv", "weight 0 transposed", "aten.convolution.default"),
        *("features.4", "features = self.features(x)"),
        nth=1,
    ),
    "a convolution that skips around": Case(
        RESIDUAL,
        *("Conv", "weight 0 flipped", "aten.convolution.default"),
        *("blocks.1.conv2", "y = self.bn2(self.conv2(y))"),
        nth=4,
    ),
    "another activation": Case(
        CONV_NET,
        *("Relu", "another operator", "aten.relu.default"),
        *("features.6", "features = self.features(x)"),
        nth=1,
    ),
    "a dropped bias": Case(
        CONV_NET,
        *("Gemm", "weight 1 dropped", "aten.addmm.default"),
        *("head", "pooled)"),
    ),
    "an epsilon": Case(
        DECODER,
        *("LayerNormalization", "epsilon", "aten.native_layer_norm.default"),
        *("layers.1.norm1", "qkv = self.qkv(self.norm1(x))"),
        nth=2,
        rungs=(Rung.DYNAMO, Rung.TRACE),
    ),
    "a softmax inside of attention": Case(
        ENCODER,
        *("Softmax", "axis", "aten._safe_softmax.default"),
        *("encoder.layers.0.self_attn", "return self.head(self.encoder(x).mean(1))"),
        rungs=(Rung.DYNAMO, Rung.TRACE),
    ),
    "the gates of an LSTM": Case(
        LSTM,
        *("LSTM", "gates", ""),
        *("recurrent", "hidden, _ = self.recurrent(self.embed(tokens))"),
        rungs=(Rung.DYNAMO, Rung.TRACE),
        proven=False,
    ),
    "the corners of an upsampling": Case(
        UNET,
        *("Resize", "coordinates", "aten.upsample_bilinear2d.default"),
        *("", "wide = F.interpolate"),
        rungs=(Rung.DYNAMO, Rung.TRACE),
    ),
    "a sign that a square hides": Case(
        MIXTURE,
        *("Sub", "inputs swapped", "aten.sub.Tensor"),
        *("", "centred = chosen - chosen.mean"),
        nth=1,
        rungs=(Rung.DYNAMO, Rung.DYNAMO_UNOPTIMIZED, Rung.SCRIPT, Rung.TRACE),
    ),
}


@pytest.mark.parametrize(
    ("case", "rung"),
    [
        pytest.param(case, rung, id=f"{name}-{rung.value}")
        for name, case in CASES.items()
        for rung in case.rungs
    ],
)
def test_damaged_node_is_blamed_with_module_and_line(make: Make, case: Case, rung: Rung) -> None:
    subject = make(case.model, rung)
    damage = [
        item for item in damages(subject.model) if (item.op, item.kind) == (case.op, case.kind)
    ][case.nth]
    blame = subject.blame(damage.apply(subject.model))
    assert blame.node == damage.node, blame
    assert blame.aten.startswith(case.aten)
    assert blame.module == case.module
    assert blame.source == line_of(case.line)
    assert blame.proven is case.proven
    assert blame.repro
    if not case.proven:
        return
    assert blame.error_before is None or blame.error_before < 1e-5
    assert blame.error_after is not None
    assert blame.error_after > TOLERANCE
    assert blame.sentence().startswith("first differs at node")
    assert_repro_shows(blame)


def assert_repro_shows(blame: Blame) -> None:
    """Run the repro alone, in an empty directory, by a Python that sees no code of ours."""
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        for file in blame.repro:
            (Path(directory) / file.name).write_bytes(file.content)
        error = run_repro(Path(directory))
    assert error == pytest.approx(blame.error_after, rel=0.05)


def run_repro(directory: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-I", "repro.py"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    return float(done.stdout.rpartition("relative error ")[2])


def test_loop_is_blamed_as_one_node(make: Make) -> None:
    subject = make(LOOP, Rung.SCRIPT)
    damaged = onnx.ModelProto()
    damaged.CopyFrom(subject.model)
    loop = next(node for node in damaged.graph.node if node.op_type == "Loop")
    body = next(attribute.g for attribute in loop.attribute if attribute.name == "body")
    next(node for node in body.node if node.op_type == "Tanh").op_type = "Sin"
    blame = subject.blame(damaged)
    assert (blame.op, blame.node) == ("Loop", loop.name)
    assert blame.source == line_of("x = torch.tanh(x) * 0.5")
    assert_repro_shows(blame)


def test_repeated_error_is_blamed_at_its_first_node(make: Make) -> None:
    """As a wrong translation makes it: no single node would make the outputs right."""
    subject = make(DECODER, Rung.DYNAMO)
    damaged = onnx.ModelProto()
    damaged.CopyFrom(subject.model)
    wrong = [node for node in damaged.graph.node if node.op_type == "LayerNormalization"]
    for node in wrong:
        node.attribute.append(onnx.helper.make_attribute("epsilon", 0.3))
        del node.attribute[:-1]
    blame = subject.blame(damaged)
    assert blame.node == wrong[0].name
    assert blame.proven
    assert blame.module == "layers.0.norm1"


class Miscompiling(Runtime):
    """An onnxruntime whose extended optimizations make another model of a file."""

    def session(self, path: Path, level: Any, dump: Path | None = None) -> Session:  # noqa: ANN401
        if level in {OFF, LEVELS["basic"]}:
            return super().session(path, level, dump)
        model = onnx.load(path)
        next(node for node in model.graph.node if node.op_type == "Sin").op_type = "Cos"
        other = path.with_name("miscompiled.onnx")
        onnx.save(model, other)
        return super().session(other, level, dump)


def test_onnxruntime_optimizations_are_blamed_by_level(make: Make) -> None:
    subject = make(MIXTURE, Rung.DYNAMO)
    runtime = Miscompiling(Provider.CPU, subject.plugins.session_setup())
    blame = subject.blame(subject.model, runtime)
    assert blame.optimization == "extended"
    assert blame.op == "Cos"
    assert blame.sentence().endswith("only after onnxruntime's extended graph optimizations")


def test_matching_file_is_not_blamed(make: Make) -> None:
    subject = make(MIXTURE, Rung.DYNAMO)
    blame = subject.blame(subject.model)
    assert blame.sentence() == ""
    assert blame.why_not == "the file matched when it ran again"


def test_failed_search_reports_why(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = make(MIXTURE, Rung.DYNAMO)
    monkeypatch.setattr(search, "SECONDS", 0.0)
    blame = subject.blame(next(damages(subject.model)).apply(subject.model))
    assert "in time" in blame.why_not
    assert blame.sentence() == ""
    broken = replace(subject, arrays={})
    assert broken.blame(subject.model).why_not.startswith("KeyError")


def test_repro_that_is_too_large_is_omitted(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelexport_exporter.blame.repro.MAX_BYTES", 100)
    subject = make(MIXTURE, Rung.DYNAMO)
    blame = subject.blame(next(damages(subject.model)).apply(subject.model))
    assert blame.node
    assert blame.repro == ()
    assert "at most" in blame.no_repro


def test_intermediate_values_are_recorded_in_chunks(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = make(MIXTURE, Rung.DYNAMO)
    damage = next(damages(subject.model))
    whole = subject.blame(damage.apply(subject.model))
    monkeypatch.setattr("modelexport_exporter.blame.record_onnx.CHUNK_BYTES", 1)
    assert subject.blame(damage.apply(subject.model)) == whole


@pytest.mark.usefixtures("torch_workers")
def test_failure_has_node_line_and_a_repro_that_runs(tmp_path: Path) -> None:
    model = catalog.SINE
    manifest = model.manifest(
        f"file://{model.checkpoint(tmp_path)}",
        f"file://{model.zip_code(tmp_path / 'code.zip')}",
        f"file://{tmp_path}/out/",
        export={"exporter": "Dynamo", "plugins": ["mistranslated"]},
    )
    result = run(ModelExport.model_validate(manifest), Settings(tmp_path / "work"), Lines())
    assert result.failure is not None
    line = line_of("return torch.sin(self.linear(x))", model.code)
    translated = "aten.sin.default, which the plugin mistranslated translates"
    said = f"It first differs at node Cos (node_sin), {translated}, {line}: relative error"
    assert said in result.failure.message
    assert "repro/" in result.failure.hint
    assert result.report_uri is not None
    report = Path(result.report_uri.removeprefix("file://"))
    blame = json.loads(report.read_text())["blame"]
    assert (blame["op"], blame["source"], blame["proven"]) == ("Cos", line, True)
    assert sorted(path.name for path in (report.parent / "repro").iterdir()) == sorted(
        Path(name).name for name in blame["repro"]
    )
    directory = tmp_path / "elsewhere"
    directory.mkdir()
    for name in blame["repro"]:
        (directory / Path(name).name).write_bytes((report.parent / name).read_bytes())
    assert run_repro(directory) == pytest.approx(blame["errorAfter"], rel=0.05)
    with np.load(directory / "inputs.npz") as inputs:
        assert inputs.files == ["linear__in"]


EACH = 6
"""Damages for each model and route."""


@pytest.mark.nightly
@pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.TRACE], ids=lambda rung: rung.value)
def test_most_damaged_nodes_are_blamed(make: Make, rung: Rung) -> None:
    """Damages drawn at random among all that make a file wrong and leave it running."""
    found: Counter[str] = Counter()
    misses = []
    for model in SUBJECTS:
        subject = make(model, rung)
        for damage in _drawn(subject):
            blame = subject.blame(damage.apply(subject.model))
            ended = _ended(blame, damage)
            found[ended] += 1
            if ended == "elsewhere":
                misses.append(f"{model.name}: {damage.kind} of {damage.node}, blamed {blame.node}")
    assert found["the node"] + found["its successor"] >= 0.97 * found.total(), misses
    assert found["the node"] >= 0.93 * found.total()
    assert found.total() == EACH * len(SUBJECTS)


def _drawn(subject: Exported) -> Iterator[Damage]:
    every = list(damages(subject.model))
    random.Random(0).shuffle(every)
    drawn = 0
    for damage in every:
        off = subject.difference(damage.apply(subject.model))
        if off is not None and off > TOLERANCE and drawn < EACH:
            drawn += 1
            yield damage


def _ended(blame: Blame, damage: Damage) -> str:
    if blame.node == damage.node:
        return "the node"
    return "its successor" if blame.node in damage.successors else "elsewhere"
