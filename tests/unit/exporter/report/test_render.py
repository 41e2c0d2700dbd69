"""The page: whatever a model, a message or a user says stays text."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest

from modelexport_exporter.report import render as rendering
from modelexport_exporter.report.render import breakable, prose, render
from modelexport_exporter.report.report import Report
from unit.exporter.report.reports import (
    artifact,
    compared,
    failed,
    report,
    sample,
    spec,
    verification,
)

EVIL = "</title></style></code>\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
VOID = frozenset({"meta", "link", "br", "wbr", "img", "circle", "line", "rect", "path"})


class Outline(HTMLParser):
    """The elements of a page, and whether each is closed where it should be."""

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(html.decode())
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend(attrs)
        self.ids.extend(value for name, value in attrs if name == "id" and value)
        self.links.extend(value for name, value in attrs if name == "href" and value)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag


def evil_reports() -> list[Any]:
    name = {"name": EVIL, "dtype": "float32", "shape": [EVIL, 4]}
    success = report(
        name=EVIL,
        spec=spec(inputs=[name], outputs=[EVIL], dims={EVIL: {"min": 1, "max": 2}}),
        source={"uri": f"s3://{EVIL}"},
        artifact=artifact(inputs=[name], outputs=[name], uri=f"s3://{EVIL}", exporter=EVIL),
        operators={EVIL: 1},
        modules=[
            {"path": path, "moduleClass": EVIL, "nodes": 1, "parameters": 0}
            for path in ("", EVIL.replace(".", ""), "b")
        ],
        findings=[{"subject": EVIL, "requested": EVIL, "obtained": EVIL}],
        verification=verification(provider=EVIL),
        samples=[sample(compared(EVIL, 1e-6)), sample(compared("b", 1e-6), batch=2)],
        inferred=[{"field": field, "value": EVIL, "source": EVIL} for field in ("outputs", EVIL)],
        tried=[{"name": EVIL, "shapes": [[1, 4]], "low": 0.5, "high": 1.0, "kinds": [EVIL]}],
        leftOut=[EVIL],
        measured={
            "precisionLosses": [{"output": EVIL, "maxRelError": 1.0, "meanRelError": 1.0}],
            "providers": [{"op": EVIL, "provider": EVIL, "nodes": 1, "shapesOnly": False}],
            "notMeasured": [EVIL],
        },
    )
    op = {"name": EVIL, "module": EVIL, "source": EVIL, "support": "NeedsPlugin", "hint": EVIL}
    pitfall = {"kind": "NumPy", "message": f"`{EVIL}`", "source": EVIL, "suggestion": EVIL}
    tried = {"reason": "CaptureFailed", "message": EVIL}
    names = ("node", "op", "aten", "module", "source", "sentence", "noRepro", "whyNot")
    failure = failed(
        "VerificationFailed",
        EVIL,
        f"`{EVIL}`",
        failure={"ops": [op]},
        blame=dict.fromkeys(names, EVIL) | {"among": [EVIL, EVIL], "repro": [EVIL]},
        samples=[sample(compared(EVIL, 1.0, problem=EVIL))],
        attempts=[
            {
                "rung": "Trace",
                "seconds": 1.0,
                "outcome": "Failed",
                "failure": tried,
                "pitfalls": [pitfall],
            }
        ],
    )
    return [pytest.param(success, id="success"), pytest.param(failure, id="failure")]


@pytest.mark.parametrize("evil", evil_reports())
def test_nothing_foreign_becomes_markup(evil: Report) -> None:
    html = render(evil)
    outline = Outline(html)
    assert "script" not in outline.tags
    assert "img" not in outline.tags
    assert not [name for name, _ in outline.attributes if name.startswith("on")]
    assert html.count(b"&lt;script&gt;") > 10


@pytest.mark.parametrize("made", [report(), failed("OutOfMemory")], ids=["success", "failure"])
def test_a_page_is_whole_and_asks_for_nothing(made: Report) -> None:
    html = render(made)
    outline = Outline(html)
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= {*outline.ids, "data:,"}
    assert {"header", "nav", "main", "footer", "h1"} <= set(outline.tags)
    assert b"default-src 'none'" in html
    for attribute, value in outline.attributes:
        assert attribute not in {"src", "srcset", "action"}, value
    assert b"@import" not in html
    assert b"url(" not in html


def test_control_characters_are_shown_as_such() -> None:
    html = render(failed("VerificationFailed", "\x1b[31mred\x00")).decode()
    assert "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}" in html


def test_the_whole_spec_is_shown() -> None:
    html = render(report()).decode()
    shown = html.rpartition("<pre")[2].partition("<code>")[2].partition("</code>")[0]
    assert json.loads(shown.replace("&#34;", '"')) == report().spec


@pytest.mark.parametrize(
    ("name", "html"),
    [
        ("layer1.0.conv", "layer1.<wbr>0.<wbr>conv"),
        ("a_b", "a_<wbr>b"),
        ("plain", "plain"),
        ("a<b>.c", "a&lt;b&gt;.<wbr>c"),
        ("", ""),
    ],
)
def test_long_names_break_at_their_joints(name: str, html: str) -> None:
    assert str(breakable(name)) == html


@pytest.mark.parametrize(
    ("said", "html"),
    [
        ("run `make x` now", "run <code>make x</code> now"),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("a lone ` stays", "a lone ` stays"),
    ],
)
def test_what_stands_in_backticks_is_code(said: str, html: str) -> None:
    assert str(prose(said)) == html


def test_a_page_that_cannot_be_made_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_report: Report) -> None:
        raise KeyError("<b>")

    monkeypatch.setattr(rendering, "page_of", broken)
    html = render(report())
    assert b"See report.json" in html
    assert b"KeyError: &#39;&lt;b&gt;&#39;" in html
