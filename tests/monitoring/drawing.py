"""The dashboard as an SVG, drawn from the answers of a Prometheus: pure.

Grafana's layout (24 columns) and Grafana's kinds of panels, as far as the dashboard uses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from monitoring.shipped import Object

Point = tuple[float, float]
"""Time and value."""

CELL, ROW, GAP, TITLE, LEGEND = 48.0, 22.0, 6.0, 18.0, 14.0
COLORS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#9c755f", "#76b7b2", "#bab0ac")
STYLE = """
svg { font: 11px system-ui, sans-serif; background: #f4f5f7 }
rect.panel { fill: #fff; stroke: #d8dae0 } text { fill: #24292f } text.quiet { fill: #6a737d }
line { stroke: #e6e8ec }
@media (prefers-color-scheme: dark) {
  svg { background: #111418 } rect.panel { fill: #1a1e24; stroke: #30363d }
  text { fill: #e6edf3 } text.quiet { fill: #9aa4af } line { stroke: #2a3038 }
}
"""


@dataclass(frozen=True)
class Series:
    """One line of a panel; `points` are in the order of time."""

    label: str
    points: tuple[Point, ...]

    @property
    def last(self) -> float:
        """Return the latest value."""
        return self.points[-1][1]


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float


def svg(panels: Sequence[Object], found: Mapping[str, Sequence[Series]]) -> str:
    """Return the picture: all panels, with the series found for each title."""
    height = max(entry["gridPos"]["y"] + entry["gridPos"]["h"] for entry in panels) * ROW
    parts = [_panel(entry, found.get(entry["title"], ())) for entry in panels]
    size = f'width="{24 * CELL:g}" height="{height:g}" viewBox="0 0 {24 * CELL:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>'
    return "\n".join([head, *parts, "</svg>", ""])


def shown(value: float, unit: str) -> str:
    """Return a value with its unit, as short as Grafana writes it."""
    if unit == "bytes":
        return f"{value / 2**20:.0f} MiB"
    if unit == "s" and 0 < value < 1:
        return f"{value * 1000:.3g} ms"
    if unit == "percentunit":
        return f"{value:.1%}"
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{number} s" if unit == "s" else number


def _panel(panel: Object, series: Sequence[Series]) -> str:
    grid = panel["gridPos"]
    box = Box(
        grid["x"] * CELL + GAP / 2, grid["y"] * ROW, grid["w"] * CELL - GAP, grid["h"] * ROW - GAP
    )
    if panel["type"] == "row":
        return _text(box.x + 4, box.y + 14, panel["title"], 'font-weight="600"')
    frame = (
        f'<rect class="panel" x="{box.x:g}" y="{box.y:g}" width="{box.width:g}"'
        f' height="{box.height:g}" rx="3"/>'
    )
    title = _text(box.x + 8, box.y + 15, panel["title"], 'font-weight="600"')
    unit = panel["fieldConfig"]["defaults"].get("unit", "short")
    inner = Box(box.x + 8, box.y + TITLE + 6, box.width - 16, box.height - TITLE - 12)
    draw = {"stat": _stat, "bargauge": _bars}.get(panel["type"], _lines)
    drawn = draw(inner, series, unit) if series else _centre(inner, "No data", 11, "quiet")
    return f"{frame}\n{title}\n{drawn}"


def _stat(box: Box, series: Sequence[Series], unit: str) -> str:
    return _centre(box, shown(series[0].last, unit), 24)


def _bars(box: Box, series: Sequence[Series], unit: str) -> str:
    step = min(22.0, box.height / len(series))
    largest = max(entry.last for entry in series) or 1.0
    room = box.width * 0.4
    parts = []
    for place, entry in enumerate(sorted(series, key=lambda entry: -entry.last)):
        y = box.y + place * step
        width = room * entry.last / largest
        parts += [
            _text(box.x, y + 13, entry.label),
            f'<rect x="{box.x + box.width * 0.5:g}" y="{y + 3:g}" width="{width:.1f}"'
            f' height="{step - 8:g}" fill="{COLORS[0]}"/>',
            _text(box.x + box.width * 0.5 + width + 4, y + 13, shown(entry.last, unit)),
        ]
    return "\n".join(parts)


def _lines(box: Box, series: Sequence[Series], unit: str) -> str:
    times = [time for entry in series for time, _ in entry.points]
    first, span = min(times), max(max(times) - min(times), 1.0)
    top = max(value for entry in series for _, value in entry.points) or 1.0
    rows = _legend(box, series)
    plot = Box(box.x + 44, box.y + 4, box.width - 48, box.height - 10 - LEGEND * len(rows))
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = plot.y + plot.height * (1 - share)
        parts += [
            f'<line x1="{plot.x:g}" x2="{plot.x + plot.width:g}" y1="{y:.1f}" y2="{y:.1f}"/>',
            _text(plot.x - 4, y + 4, shown(top * share, unit), 'class="quiet" text-anchor="end"'),
        ]
    for place, entry in enumerate(series):
        points = " ".join(
            f"{plot.x + plot.width * (time - first) / span:.1f},"
            f"{plot.y + plot.height * (1 - value / top):.1f}"
            for time, value in entry.points
        )
        color = COLORS[place % len(COLORS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}"/>')
    for number, row in enumerate(reversed(rows)):
        parts.append(_legend_row(box, box.y + box.height - LEGEND * number, row))
    return "\n".join(parts)


def _legend(box: Box, series: Sequence[Series]) -> list[list[tuple[str, str]]]:
    """Return rows of colour and label that fit the width."""
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0.0
    for place, entry in enumerate(series):
        width = _width(entry.label)
        if used + width > box.width and rows[-1]:
            rows.append([])
            used = 0.0
        rows[-1].append((COLORS[place % len(COLORS)], entry.label))
        used += width
    return rows


def _legend_row(box: Box, y: float, row: Sequence[tuple[str, str]]) -> str:
    parts, x = [], box.x
    for color, label in row:
        parts.append(f'<rect x="{x:g}" y="{y - 5:.1f}" width="8" height="3" fill="{color}"/>')
        parts.append(_text(x + 11, y, label, 'class="quiet"'))
        x += _width(label)
    return "\n".join(parts)


def _width(label: str) -> float:
    return 22 + 6.0 * len(label)


def _centre(box: Box, text: str, size: int, kind: str = "") -> str:
    x, y = box.x + box.width / 2, box.y + box.height / 2 + size / 3
    return _text(x, y, text, f'class="{kind}" text-anchor="middle" font-size="{size}"')


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(text)}</text>'
