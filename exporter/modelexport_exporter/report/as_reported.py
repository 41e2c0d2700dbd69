"""The run's own values as report.json has them: pure, except for `environment`."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence

from modelexport_api.status import Stage
from modelexport_exporter.core.attempt import Attempt
from modelexport_exporter.core.blame import REPRO_NAME, Blame
from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.errors import printable
from modelexport_exporter.core.gpus import find_gpus
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.types import ContractFinding, ModuleScope, PointedWeights
from modelexport_exporter.report.report import (
    ComparedOutput,
    ComparedSample,
    Environment,
    Finding,
    GraphModule,
    InCheckpoint,
    PointedInto,
    ReportedBlame,
    ReportedPitfall,
    StageTime,
    TriedRung,
)


def stage_times(seconds: dict[Stage, float]) -> list[StageTime]:
    """Return the times in the order of the stages."""
    return [
        StageTime(stage=stage, seconds=round(seconds[stage], 3))
        for stage in Stage
        if stage in seconds
    ]


def findings(found: tuple[ContractFinding, ...]) -> list[Finding]:
    """Return the contract's findings as they are written."""
    return [
        Finding(subject=item.subject, requested=item.requested, obtained=item.obtained)
        for item in found
    ]


def in_checkpoint(found: PointedWeights | None) -> InCheckpoint | None:
    """Return what points where, as it is written."""
    if found is None:
        return None
    files = [
        PointedInto(
            name=file.name,
            source=file.source,
            tensors=file.tensors,
            pointed_bytes=file.pointed_bytes,
        )
        for file in found.files
    ]
    return InCheckpoint(files=files, others=found.others, other_bytes=found.other_bytes)


def modules(found: Sequence[ModuleScope]) -> list[GraphModule]:
    """Return the tree of modules as it is written."""
    return [
        GraphModule(
            path=scope.path,
            module_class=scope.module_class,
            nodes=scope.nodes,
            parameters=scope.parameters,
        )
        for scope in found
    ]


def attempts(tried: Sequence[Attempt]) -> list[TriedRung]:
    """Return the ladder's attempts as they are written."""
    return [
        TriedRung(
            rung=attempt.rung,
            seconds=attempt.seconds,
            outcome="Deferred"
            if attempt.deferred
            else ("Failed" if attempt.failure else "Verified"),
            failure=attempt.failure,
            pitfalls=[_pitfall(pitfall) for pitfall in attempt.pitfalls],
        )
        for attempt in tried
    ]


def _pitfall(found: Pitfall) -> ReportedPitfall:
    return ReportedPitfall(
        kind=found.kind,
        message=printable(found.message),
        source=found.source,
        suggestion=printable(found.suggestion),
    )


def samples(compared: tuple[SampleComparison, ...]) -> list[ComparedSample]:
    """Return the comparisons as they are written."""
    return [
        ComparedSample(
            dims=sample.dims,
            seed=sample.seed,
            values=sample.label,
            outputs=[
                ComparedOutput(
                    output=output.output,
                    max_abs_error=_json_number(output.max_abs_error),
                    max_rel_error=_json_number(output.max_rel_error),
                    limit=_json_number(output.limit),
                    noise=None if output.noise is None else _json_number(output.noise),
                    problem=output.problem.text if output.problem else "",
                    inconclusive=output.inconclusive,
                )
                for output in sample.outputs
            ],
        )
        for sample in compared
    ]


def blame(found: Blame) -> ReportedBlame:
    """Return the node to blame as it is written; `repro` holds paths relative to the report."""
    errors = {
        name: None if value is None else _json_number(value)
        for name, value in (("before", found.error_before), ("after", found.error_after))
    }
    return ReportedBlame(
        sentence=printable(found.sentence()),
        node=printable(found.node),
        op=printable(found.op),
        aten=found.aten,
        plugin=found.plugin,
        module=printable(found.module),
        source=printable(found.source),
        error_before=errors["before"],
        error_after=errors["after"],
        proven=found.proven,
        among=[printable(name) for name in found.among],
        optimization=found.optimization,
        repro=[f"{REPRO_NAME}/{file.name}" for file in found.repro],
        no_repro=printable(found.no_repro),
        why_not=printable(found.why_not),
    )


def environment(versions: dict[str, str]) -> Environment:
    """Return where this process runs."""
    gpus = find_gpus()
    return Environment(
        versions=versions,
        python=platform.python_version(),
        platform=platform.platform(),
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
        gpus=[printable(model) for model in gpus.models],
        gpu_driver=gpus.driver,
        gpu_libraries=dict(gpus.libraries),
    )


def _json_number(value: float) -> float | str:
    """JSON knows neither NaN nor infinity."""
    return value if value - value == 0 else str(value)
