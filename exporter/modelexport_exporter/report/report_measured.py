"""Parts of report.json: accuracy lost by a precision, providers of nodes, what was not measured."""

from __future__ import annotations

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_exporter.core.benchmark_plan import Benchmark
from modelexport_exporter.core.outcome import VerificationOutcome


class ReportedLoss(ApiModel):
    """The accuracy that one output lost by export.precision, against eager in the model's own."""

    output: str
    max_rel_error: float
    mean_rel_error: float
    top1_agreement: float | None = Field(
        default=None, description="The share of rows whose largest number stays where it was."
    )
    rows: int = 0


class ReportedFallback(ApiModel):
    """Nodes of one operator that ran on another provider than the requested one."""

    op: str
    provider: str
    nodes: int
    shapes_only: bool = Field(
        description="Whether it is arithmetic on shapes, which belongs on the CPU."
    )


class ReportedInput(ApiModel):
    """What one input was in the samples that were compared."""

    name: str
    shapes: list[list[int]] = Field(description="Different ones, at most 64.")
    more_shapes: int = 0
    low: float | None = Field(default=None, description="The smallest finite value.")
    high: float | None = None
    not_finite: int = Field(default=0, description="Samples with NaN or infinity in it.")
    kinds: list[str] = Field(description="What the samples were drawn from.")


class Measured(ApiModel):
    """Other measurements than errors."""

    precision_losses: list[ReportedLoss] = Field(default_factory=list)
    providers: list[ReportedFallback] = Field(default_factory=list)
    not_measured: list[str] = Field(default_factory=list)
    latency_seconds: float | None = Field(
        default=None, description="How long the latency was measured, in seconds."
    )


def tried_inputs(outcome: VerificationOutcome | None) -> list[ReportedInput]:
    """Return what each input was, as it is written."""
    return [
        ReportedInput(
            name=entry.name,
            shapes=[list(shape) for shape in entry.shapes],
            more_shapes=entry.more_shapes,
            low=entry.low,
            high=entry.high,
            not_finite=entry.not_finite,
            kinds=list(entry.kinds),
        )
        for entry in (outcome.tried if outcome else ())
    ]


def measured(outcome: VerificationOutcome | None, benchmark: Benchmark | None) -> Measured:
    """Return these parts as they are written."""
    return Measured(
        precision_losses=[
            ReportedLoss(
                output=loss.output,
                max_rel_error=loss.max_rel_error,
                mean_rel_error=loss.mean_rel_error,
                top1_agreement=loss.top1,
                rows=loss.rows,
            )
            for loss in (outcome.losses if outcome else ())
        ],
        providers=[
            ReportedFallback(
                op=entry.op,
                provider=entry.provider,
                nodes=entry.nodes,
                shapes_only=entry.shapes_only,
            )
            for entry in (outcome.fallbacks if outcome else ())
        ],
        not_measured=list(benchmark.left_out) if benchmark else [],
        latency_seconds=_rounded(benchmark.seconds) if benchmark else None,
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
