"""index.html: all results of a batch on one page, failures first, each with its report.

It loads nothing. Its one script, which the content security policy names by its digest, filters and
sorts the rows; the table is complete without it. Everything is escaped: names and messages come
from checkpoints and users.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

from markupsafe import Markup, escape

from modelexport_exporter.batch.destinations import BATCHES
from modelexport_exporter.batch.item_result import ItemResult, badness
from modelexport_exporter.batch.results import Results
from modelexport_exporter.core.entry_points import BATCH_TEMPLATES, REPORT_TEMPLATES
from modelexport_exporter.report import text
from modelexport_exporter.report.render import encode, environment_of, read_own
from modelexport_exporter.report.verdict import Fact

_TEMPLATE, _STYLES, _SCRIPT = "index.html.j2", ("report.css", "index.css"), "index.js"
_PACKAGES = (BATCH_TEMPLATES, REPORT_TEMPLATES)
_SHOWN_MESSAGE = 300
_LAST = 1e300
"""Sorts after every error; JSON and scripts have no number for infinity."""


@dataclass(frozen=True)
class Row:
    """A checkpoint as it is displayed."""

    name: str
    uri: str
    tone: str
    answer: str
    reason: str
    message: str
    error: str
    error_key: float
    time: str
    time_key: float
    link: str


@dataclass(frozen=True)
class Page:
    """Everything that the template shows."""

    title: str
    name: str
    tone: str
    word: str
    sentence: str
    facts: tuple[Fact, ...]
    rows: tuple[Row, ...]


def render(results: Results, directory_uri: str) -> bytes:
    """Return index.html; if rendering fails, a page that says so and names results.json."""
    try:
        return _render_page(page_of(results, directory_uri))
    except Exception as error:  # noqa: BLE001 - no batch fails for its page
        why = escape(f"{type(error).__name__}: {error}")
        page = f"<!doctype html><title>ModelExport</title><p>See results.json; no page: {why}"
        return page.encode(errors="replace")


def page_of(results: Results, directory_uri: str) -> Page:
    """Return the page as values."""
    items = sorted(results.items, key=badness)
    done = f"{text.grouped(results.succeeded)} of {text.grouped(results.total)} verified"
    tone, sentence = _verdict(results)
    return Page(
        title=f"{results.name}: {done}",
        name=results.name,
        tone=tone,
        word=done,
        sentence=sentence,
        facts=tuple(_facts(results, items)),
        rows=tuple(_row(item, directory_uri) for item in items),
    )


def _verdict(results: Results) -> tuple[str, str]:
    """Return the tone of the banner, and why it has it."""
    waiting = "The others are still pending, or the batch was stopped." if results.pending else ""
    if not results.failed:
        if waiting:
            return "again", waiting
        return "good", "Every checkpoint was verified on its own weights."
    reasons = ", ".join(f"{count} × {reason}" for reason, count in results.reasons.items())
    failed = f"{text.many(results.failed, 'checkpoint')} failed ({reasons})"
    may = f"{text.grouped(results.max_failed)} may" if results.max_failed else "none may"
    if results.failed > results.max_failed:
        tone, sentence = "bad", f"The batch failed: {failed}, and {may} (spec.maxFailed)."
    else:
        end = "." if waiting else ": the batch succeeded."
        tone, sentence = "again", f"{failed}, and {may} (spec.maxFailed){end}"
    published = "Those that verified are published." if results.succeeded else ""
    return tone, " ".join(filter(None, (sentence, published, waiting)))


def _facts(results: Results, items: list[ItemResult]) -> Iterator[Fact]:
    yield Fact("Checkpoints", text.grouped(results.total))
    yield Fact("Failed", text.grouped(results.failed))
    if results.pending:
        yield Fact("Not tried", text.grouped(results.pending))
    reused = sum(item.reused for item in items)
    if reused:
        yield Fact("Up to date before", text.grouped(reused))
    closest = [item for item in items if item.outcome == "Succeeded" and item.limit_share]
    if closest:
        share = float(closest[0].limit_share or 0)
        yield Fact("Closest to its tolerance", text.of_limit(share), closest[0].name)
    seconds = sum(item.seconds or 0.0 for item in items)
    yield Fact("Time in all", text.seconds(seconds))


def _row(item: ItemResult, directory_uri: str) -> Row:
    tones = {"Succeeded": "good", "Failed": "bad", "Pending": "again"}
    words = {"Succeeded": "✓ Verified", "Failed": "✗ Failed", "Pending": "… Not tried"}
    share = None if item.limit_share is None else float(item.limit_share)
    message = item.message
    if len(message) > _SHOWN_MESSAGE:
        message = f"{message[:_SHOWN_MESSAGE]}…"
    return Row(
        name=item.name,
        uri=item.uri,
        tone=tones[item.outcome],
        answer=words[item.outcome] + (", up to date" if item.reused else ""),
        reason=item.reason.value if item.reason else "",
        message=message,
        error=text.of_limit(share) if share is not None else "",
        error_key=_sortable(share),
        time=text.seconds(item.seconds) if item.seconds is not None else "",
        time_key=item.seconds or 0.0,
        link=link_to(item.report_uri, directory_uri),
    )


def _sortable(share: float | None) -> float:
    if share is None:
        return -1.0
    return share if abs(share) < _LAST else _LAST


def link_to(report_uri: str | None, directory_uri: str) -> str:
    """Return the link from the index to a report's page; empty if it is not below the root.

    Relative, so that it works wherever the bucket is served or copied to.
    """
    root = directory_uri.rstrip("/").rpartition(f"/{BATCHES}/")[0] + "/"
    if report_uri is None or not report_uri.startswith(root):
        return ""
    below = report_uri.removeprefix(root).removesuffix(".json") + ".html"
    return "../../" + quote(unquote(below) if root.startswith("file://") else below)


def _render_page(page: Page) -> bytes:
    environment = environment_of(*_PACKAGES)
    style = Markup("\n").join(read_own(environment, name) for name in _STYLES)
    script = read_own(environment, _SCRIPT)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = environment.get_template(_TEMPLATE).render(
        page=page, style=style, script=script, script_digest=digest
    )
    return encode(html)
