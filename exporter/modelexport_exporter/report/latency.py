"""The section on latency: eager, compiled and the file. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from modelexport_api.status import LatencyFigures
from modelexport_exporter.report import text
from modelexport_exporter.report.report import Report


@dataclass(frozen=True)
class LatencyRow:
    """One runtime."""

    name: str
    median: str
    p95: str
    compared: str
    """`2.1× as fast as eager`."""
    median_width: float
    p95_width: float
    is_artifact: bool


@dataclass(frozen=True)
class LatencyTable:
    """The section on latency."""

    sizes: str
    rows: tuple[LatencyRow, ...]
    left_out: tuple[str, ...]
    """Why something was not measured."""


def latency_of(report: Report) -> LatencyTable | None:
    """Return the section, or None where nothing was measured."""
    measured = report.verification.latency_ms if report.verification else None
    if measured is None:
        return None
    runtimes = [
        ("PyTorch, eager", measured.eager),
        ("PyTorch, torch.compile", measured.compiled),
        ("onnxruntime, this file", measured.onnx),
    ]
    known = [(name, figures) for name, figures in runtimes if figures is not None]
    longest = max((max(figures.p95, figures.median) for _, figures in known), default=0.0) or 1.0
    return LatencyTable(
        sizes=text.dims(measured.dims),
        rows=tuple(
            _row(name, figures, measured.eager, longest, figures is measured.onnx)
            for name, figures in known
        ),
        left_out=tuple(report.measured.not_measured),
    )


def _row(
    name: str, figures: LatencyFigures, eager: LatencyFigures, longest: float, is_artifact: bool
) -> LatencyRow:
    return LatencyRow(
        name=name,
        median=text.milliseconds(figures.median),
        p95=text.milliseconds(figures.p95),
        compared="" if figures is eager else _compared(figures.median, eager.median),
        median_width=round(figures.median / longest * 100, 2),
        p95_width=round(max(figures.p95, figures.median) / longest * 100, 2),
        is_artifact=is_artifact,
    )


def _compared(median: float, eager: float) -> str:
    if median <= 0 or eager <= 0:
        return ""
    alike = 1.05
    if max(median, eager) / min(median, eager) < alike:
        return "as fast as eager"
    if median < eager:
        return f"{eager / median:.1f}× as fast as eager"
    return f"{median / eager:.1f}× as slow as eager"
