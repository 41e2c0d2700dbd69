"""The page as frozen values: everything that the template shows. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC

from modelexport_exporter.report import text
from modelexport_exporter.report.blame import Culprit, culprit_of
from modelexport_exporter.report.consume import Snippet, snippets_of
from modelexport_exporter.report.contract import Contract, contract_of
from modelexport_exporter.report.errors import Errors, errors_of
from modelexport_exporter.report.graph import Graph, graph_of
from modelexport_exporter.report.latency import LatencyTable, latency_of
from modelexport_exporter.report.report import Environment, Report
from modelexport_exporter.report.report_measured import ReportedFallback, ReportedLoss
from modelexport_exporter.report.route import Route, route_of
from modelexport_exporter.report.tried import Tried, tried_of
from modelexport_exporter.report.verdict import (
    Trouble,
    Verdict,
    trouble_of,
    verdict_of,
    verifies_only,
)


@dataclass(frozen=True)
class Pair:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True)
class LossRow:
    """The accuracy that an output lost by a reduced precision."""

    output: str
    largest: str
    mean: str
    top1: str


@dataclass(frozen=True)
class VerdictDetails:
    """How the verdict was reached."""

    provider: str
    tolerance: str
    noise: str
    fallback: int
    elsewhere: tuple[ReportedFallback, ...]
    """Operators that ran on another provider than the requested one."""
    losses: tuple[LossRow, ...]


@dataclass(frozen=True)
class Page:
    """report.html."""

    title: str
    name: str
    made: str
    verdict: Verdict
    trouble: Trouble | None
    culprit: Culprit | None
    errors: Errors | None
    tried: Tried
    verdict_details: VerdictDetails | None
    contract: Contract
    route: Route
    graph: Graph | None
    latency: LatencyTable | None
    snippets: tuple[Snippet, ...]
    environment: tuple[Pair, ...]
    source: tuple[Pair, ...]
    spec: str


_TOLERANCES = {
    "Spec": "from spec.verification.tolerance",
    "Calibrated": "a small multiple of the model's own rounding error, at least a floor per dtype",
    "Default": "a floor per element type, relative to the largest value of the output",
}


def page_of(report: Report) -> Page:
    """Return the page of a report."""
    name = f"{report.namespace}/{report.name}" if report.namespace else report.name
    verdict = verdict_of(report)
    return Page(
        title=f"{verdict.word}: {name}",
        name=name,
        made=report.finished.astimezone(UTC).strftime("%d %b %Y, %H:%M UTC"),
        verdict=verdict,
        trouble=trouble_of(report),
        culprit=culprit_of(report),
        errors=errors_of(report),
        tried=tried_of(report),
        verdict_details=_verdict_details(report),
        contract=contract_of(report),
        route=route_of(report),
        graph=graph_of(report),
        latency=latency_of(report),
        snippets=() if verifies_only(report) else snippets_of(report),
        environment=tuple(_environment(report)),
        source=tuple(_source(report)),
        spec=json.dumps(report.spec, indent=2, ensure_ascii=False),
    )


def _verdict_details(report: Report) -> VerdictDetails | None:
    summary = report.verification
    if summary is None:
        return None
    noise = summary.max_noise
    return VerdictDetails(
        provider=summary.provider,
        tolerance=f"{_TOLERANCES.get(summary.tolerance_source, '')} ({summary.tolerance_source})",
        noise=f"{text.number(noise)} of the largest value" if noise is not None else "",
        fallback=summary.fallback_nodes,
        elsewhere=tuple(report.measured.providers),
        losses=tuple(_loss(loss) for loss in report.measured.precision_losses),
    )


def _loss(loss: ReportedLoss) -> LossRow:
    top = loss.top1_agreement
    of = f"{top * 100:.1f} % of {text.many(loss.rows, 'row')}" if top is not None else "–"
    return LossRow(
        loss.output, text.number(loss.max_rel_error), text.number(loss.mean_rel_error), of
    )


def _environment(report: Report) -> list[Pair]:
    found = report.environment
    return [
        *(Pair(name, version) for name, version in found.versions.items()),
        Pair("Python", found.python),
        Pair("platform", found.platform),
        Pair("CPUs", str(found.cpus)),
        *_gpus(found),
        Pair("peak memory", text.size(report.peak_memory_bytes)),
        *_isolation(report),
    ]


def _gpus(found: Environment) -> Iterator[Pair]:
    """Yield each model of GPU with how many there are, the driver, and the libraries of CUDA."""
    if not found.gpus:
        return
    counted = Counter(found.gpus)
    yield Pair("GPU", ", ".join(f"{n} x {name}" if n > 1 else name for name, n in counted.items()))
    yield Pair("NVIDIA driver", found.gpu_driver or "unknown")
    yield from (Pair(name, version) for name, version in found.gpu_libraries.items())


def _isolation(report: Report) -> Iterator[Pair]:
    found = report.verification.isolation if report.verification else None
    if found is None:
        return
    mechanisms = [
        *([f"Landlock ABI {found.landlock_abi}"] if found.landlock_abi else []),
        *(["seccomp"] if found.seccomp else []),
        f"network {found.network.value.lower()}",
    ]
    yield Pair("isolation of the model's code", ", ".join(mechanisms))
    if report.verification is not None and report.verification.user_code_in_runtime:
        yield Pair("onnxruntime", "ran with plugins or libraries of the user, in their process")
    for sentence in found.missing:
        yield Pair("not in force", sentence)


def _source(report: Report) -> list[Pair]:
    source = report.source
    pairs = [Pair("checkpoint", source.uri)]
    if source.sha256:
        pairs.append(Pair("checkpoint sha256", source.sha256))
    if report.spec_sha256:
        pairs.append(Pair("spec sha256", report.spec_sha256))
    if report.artifact:
        pairs.append(Pair("artifact", report.artifact.uri))
        pairs.append(Pair("artifact sha256", report.artifact.sha256))
    return pairs
