"""Batches for tests: manifests of many checkpoints, and engines that keep nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason, is_retryable
from modelexport_api.resource import ModelExport
from modelexport_api.status import Artifact, Failure, Progress, Stage, Verdict, VerificationResult
from modelexport_exporter.core.log import Log
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run

Answer = Callable[[ModelExport], PodResult]


def manifest(source: dict[str, Any], destination: str, **spec: Any) -> dict[str, Any]:  # noqa: ANN401
    """A ModelExport of a batch as a document; field `uid` makes it one of a cluster."""
    uid = spec.pop("uid", None)
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "folds", "uid": uid},
        "spec": {
            "source": source,
            "model": {"factory": "net:build"},
            "inputs": [{"name": "x", "shape": [4]}],
            "destination": {"uri": destination},
            **spec,
        },
    }


def batch(source: dict[str, Any], destination: str, **spec: Any) -> ModelExport:  # noqa: ANN401
    return ModelExport.model_validate(manifest(source, destination, **spec))


def verified(item: ModelExport, share: float = 0.25) -> PodResult:
    """The result of a checkpoint that was exported."""
    directory = item.spec.destination.uri.rstrip("/")
    return PodResult(
        outcome="Succeeded",
        artifact=Artifact(
            uri=f"{directory}/model.onnx",
            sha256="0" * 64,
            size_bytes=1000,
            opset=20,
            ir_version=10,
            exporter="Fake",
            inputs=[],
            outputs=[],
        ),
        verification=VerificationResult(
            verdict=Verdict.VERIFIED,
            provider="CPU",
            samples=3,
            max_abs_error=1e-6,
            max_rel_error=1e-6,
            limit_share=share,
            tolerance_source="Calibrated",
        ),
        completed=list(Stage),
        report_uri=f"{directory}/report.json",
    )


def failed(reason: Reason, message: str = "it is bad", report_uri: str | None = None) -> PodResult:
    """The result of a checkpoint that was not."""
    failure = Failure(reason=reason, message=message, retryable=is_retryable(reason))
    return PodResult(outcome="Failed", failure=failure, report_uri=report_uri)


@dataclass
class FakeEngine:
    """Answers at once; `answers` by the checkpoint's name, one for each attempt."""

    answers: dict[str, list[PodResult | Exception]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    followed_by: list[list[str]] = field(default_factory=list)
    closed: int = 0
    first: Callable[[ModelExport], object] = lambda _item: None
    """Called before an answer."""

    def export(self, item: ModelExport, following: Sequence[ModelExport], log: Log) -> PodResult:
        name = item.spec.source.one.rstrip("/").rpartition("/")[2]
        self.asked.append(name)
        self.followed_by.append([entry.spec.source.one.rpartition("/")[2] for entry in following])
        log.progress(Progress(stage=Stage.VERIFY, percent=50, message="comparing"))
        self.first(item)
        left = self.answers.get(name)
        answer = left.pop(0) if left else verified(item)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.closed += 1


class OneByOne:
    """The simple engine: each checkpoint is exported as if it were alone."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def export(self, item: ModelExport, following: Sequence[ModelExport], log: Log) -> PodResult:
        del following
        return run(item, self._settings, log)

    def close(self) -> None:
        """Nothing is kept."""
