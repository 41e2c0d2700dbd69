"""Many checkpoints of one model with the real workers: one graph, each on its own weights."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from batches import batch
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_exporter.batch.rebinding_engine import RebindingEngine
from modelexport_exporter.batch.resident_workers import ResidentWorkerPool
from modelexport_exporter.batch.run import run_share
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.pipeline.verifier import Roles
from models.code import families

pytestmark = pytest.mark.usefixtures("torch_workers")

CODE = Path(families.__file__)
X = {"name": "x", "shape": ["batch", 6]}


class Family:
    """Checkpoints in a directory, and a batch over them."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.directory = directory
        self._capsys = capsys
        code = directory / "code"
        code.mkdir()
        (code / "families.py").write_bytes(CODE.read_bytes())

    def write(self, factory: str, *seeds: int, change: Callable[..., None] | None = None) -> None:
        for seed in seeds:
            torch.manual_seed(seed)
            module = getattr(families, factory)()
            for parameter in module.parameters():
                torch.nn.init.normal_(parameter.data, std=0.5)
            if change is not None:
                change(module, seed)
            torch.save(module.state_dict(), self.directory / f"run-{seed}.pt")

    def resource(
        self,
        factory: str,
        source: dict[str, Any] | None = None,
        to: str = "onnx/{stem}/",
        **spec: Any,  # noqa: ANN401
    ) -> ModelExport:
        code = {"uri": f"file://{self.directory}/code/"}
        return batch(
            {"uri": f"file://{self.directory}/run-*.pt"} | (source or {}),
            f"file://{self.directory}/{to}",
            **{
                "model": {"factory": f"families:{factory}", "code": code},
                "inputs": [X],
                "dims": {"batch": {"min": 1, "max": 8}},
                "outputs": ["y"],
                "verification": {"benchmark": False},
                **spec,
            },
        )

    def run(self, resource: ModelExport, engine: Callable[..., Any] = RebindingEngine) -> PodResult:
        settings = Settings(self.directory / "work")
        return run_share(resource, settings, JsonLog(sys.stderr), make_engine=engine).result

    def read_log(self) -> str:
        return self._capsys.readouterr().err

    def file(self, seed: int) -> Path:
        return self.directory / "onnx" / f"run-{seed}" / "model.onnx"

    def report(self, seed: int) -> dict[str, Any]:
        text = self.file(seed).with_name("report.json").read_text()
        report: dict[str, Any] = json.loads(text)
        return report

    def check(self, factory: str, *seeds: int) -> None:
        """Hold each file against its own weights, without the product's verification."""
        x = np.random.default_rng(7).standard_normal((5, 6), dtype=np.float32)
        for seed in seeds:
            module = getattr(families, factory)().eval()
            module.load_state_dict(torch.load(self.directory / f"run-{seed}.pt"))
            (y,) = onnxruntime.InferenceSession(self.file(seed)).run(None, {"x": x})
            with torch.no_grad():
                np.testing.assert_allclose(y, module(torch.from_numpy(x)), rtol=1e-3, atol=1e-4)


@pytest.fixture
def family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Family:
    return Family(tmp_path, capsys)


def test_each_file_holds_its_own_weights_and_is_what_a_fresh_export_gives(family: Family) -> None:
    family.write("normalized", 1, 2, 3)
    result = family.run(family.resource("normalized"))
    assert result.share is not None
    assert result.share.succeeded == 3
    assert "the kept graph failed" not in family.read_log()
    family.check("normalized", 1, 2, 3)

    source = {"uri": f"file://{family.directory}/run-3.pt"}
    alone = family.resource("normalized", source, to="alone/")
    run(alone, Settings(family.directory / "work"), JsonLog(sys.stderr))
    fresh = (family.directory / "alone" / "model.onnx").read_bytes()
    assert family.file(3).read_bytes() == fresh


def test_weights_that_were_equal_once_are_not_merged_for_ever(family: Family) -> None:
    """The trap: an optimizer merges equal tensors, and other weights are not equal."""

    def equal_in_the_first(module: families.Branches, seed: int) -> None:
        if seed == 1:
            module.right.load_state_dict(module.left.state_dict())

    family.write("branches", 1, 2, 3, change=equal_in_the_first)
    result = family.run(family.resource("branches"))
    assert result.share is not None
    assert result.share.succeeded == 3
    family.check("branches", 1, 2, 3)
    sizes = [len(onnx.load(family.file(seed)).graph.initializer) for seed in (1, 2, 3)]
    assert sizes[0] < sizes[1] == sizes[2]


def test_tied_weights_stay_tied(family: Family) -> None:
    family.write("tied", 1, 2)
    result = family.run(family.resource("tied"))
    assert result.share is not None
    assert result.share.succeeded == 2
    assert "the kept graph failed" not in family.read_log()
    family.check("tied", 1, 2)


def test_what_the_graph_knows_of_the_first_weights_is_found_by_the_verdict(family: Family) -> None:
    family.write("scaled", 1, 2, 3)
    result = family.run(family.resource("scaled"))
    assert result.share is not None
    assert result.share.succeeded == 3
    assert "the kept graph failed, exporting again: VerificationFailed" in family.read_log()
    family.check("scaled", 1, 2, 3)


def test_a_stranger_gets_a_fresh_export_and_the_family_goes_on(family: Family) -> None:
    """Whole modules, pickled: each says itself what it is."""
    for seed, width in enumerate((16, 16, 8, 16)):
        torch.manual_seed(seed)
        torch.save(families.wide(width), family.directory / f"run-{seed}.pt")
    source = {"format": "Module", "allowPickle": True}
    code = {"code": {"uri": f"file://{family.directory}/code/"}}
    resource = family.resource("wide", source, model=code)
    result = family.run(resource)
    assert result.share is not None
    assert result.share.succeeded == 4
    said = family.read_log()
    assert said.count("the kept graph failed") == 1
    assert "0.weight is float32 [8, 6], not float32 [16, 6]" in said
    widths = [onnx.load(family.file(seed)).graph.initializer[0].dims for seed in range(4)]
    assert [8 in dims for dims in widths] == [False, False, True, False]


def test_later_files_are_verified_on_fewer_samples_and_the_report_says_so(family: Family) -> None:
    family.write("normalized", 1, 2)
    family.run(family.resource("normalized"))
    first, second = family.report(1), family.report(2)
    assert first["verification"]["samples"] > second["verification"]["samples"] >= 5
    assert any("the same graph was verified" in why for why in second["leftOut"])
    assert {sample["values"] for sample in second["samples"]} >= {"normal", "large", "zeros"}


def test_a_corrupt_checkpoint_costs_nobody_else(family: Family) -> None:
    family.write("normalized", 1, 3)
    (family.directory / "run-2.pt").write_bytes(b"PK\x03\x04 cut off")
    result = family.run(family.resource("normalized", maxFailed=1))
    assert result.share is not None
    assert (result.share.succeeded, result.share.failed) == (2, 1)
    assert list(result.share.reasons) == [Reason.CHECKPOINT_CORRUPT]
    family.check("normalized", 1, 3)


def test_a_worker_that_dies_costs_one_attempt(family: Family) -> None:
    def engine(settings: Settings) -> RebindingEngine:
        return RebindingEngine(
            settings, ResidentWorkerPool(settings, exporter="small_workers:DyingResidentExporter")
        )

    family.write("normalized", 1, 2, 3)
    result = family.run(family.resource("normalized"), engine)
    assert result.share is not None
    assert result.share.succeeded == 3
    assert "the kept graph failed, exporting again: WorkerDied" in family.read_log()
    family.check("normalized", 1, 2, 3)


def test_weights_in_an_external_file_are_published_on_this_machine(family: Family) -> None:
    """A link of them would be all that it takes, but onnx reads no file that has two names."""
    family.write("tokens", 1, 2)
    ids = {"name": "ids", "dtype": "int64", "shape": ["batch"], "range": [0, families.TOKENS - 1]}
    result = family.run(family.resource("tokens", inputs=[ids]))
    assert result.share is not None
    assert result.share.succeeded == 2
    for seed in (1, 2):
        assert len(list(family.file(seed).parent.glob("model.*.data"))) == 1
        table = torch.load(family.directory / f"run-{seed}.pt")["weight"].numpy()
        last = np.array([0, families.TOKENS - 1])
        (rows,) = onnxruntime.InferenceSession(family.file(seed)).run(None, {"ids": last})
        np.testing.assert_array_equal(rows, table[last])


def doubted_by(verifier: str) -> Callable[[Settings], RebindingEngine]:
    """An engine that makes the second checkpoint's file while the first one's is doubted."""

    def engine(settings: Settings) -> RebindingEngine:
        pool = ResidentWorkerPool(settings, roles=Roles(judge=f"small_workers:{verifier}"))
        return RebindingEngine(settings, pool)

    return engine


def test_a_graph_whose_first_file_is_wrong_makes_no_other(family: Family) -> None:
    family.write("normalized", 1, 2, 3)
    resource = family.resource("normalized", maxFailed=1, export={"exporter": "Dynamo"})
    result = family.run(resource, doubted_by("DoubtingJudge"))
    assert result.share is not None
    assert result.share.reasons == {Reason.VERIFICATION_FAILED: 1}
    assert result.share.succeeded == 2
    family.check("normalized", 2, 3)
    proven = [any("the same graph" in why for why in family.report(n)["leftOut"]) for n in (2, 3)]
    assert proven == [False, True]


def test_a_graph_of_a_later_rung_takes_the_place_of_one_that_is_wrong(family: Family) -> None:
    family.write("normalized", 1, 2)
    result = family.run(family.resource("normalized"), doubted_by("FirstRungDoubtingJudge"))
    assert result.share is not None
    assert result.share.succeeded == 2
    assert "the kept graph failed" not in family.read_log()
    rungs = [[attempt["rung"] for attempt in family.report(n)["attempts"]] for n in (1, 2)]
    assert rungs == [["Dynamo", "DynamoStrict"], ["DynamoStrict"]]
    family.check("normalized", 1, 2)


def test_nothing_is_left_on_the_machine(family: Family) -> None:
    family.write("normalized", 1, 2)
    family.run(family.resource("normalized"))
    assert list((family.directory / "work").iterdir()) == []
    staged = family.directory / "onnx" / "run-2" / ".staging"
    assert not staged.exists()
