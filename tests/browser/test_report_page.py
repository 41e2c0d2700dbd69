"""report.html of real runs in a real browser, on a phone's width and a desk's, light and dark.

Nobody can test whether it is beautiful; what can be tested is that nothing is lost, hidden, cut
off, fetched, unreachable by keyboard or unreadable.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, cast

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from browser.conftest import Published
from modelexport_api.reasons import Reason
from modelexport_exporter.report.errors import MOST_POINTS

pytestmark = pytest.mark.browser

Scheme = Literal["light", "dark"]
X = {"name": "x", "shape": ["batch", 4]}
FREE = {"batch": {"max": 16}}
LONG = [f"heads.{index}.prediction_for_category_{index:02d}_logits" for index in range(44)]
PHONE, DESK = 390, 1280
"""Widths in CSS pixels."""
WORDS = {"many_heads": "Verified", "baked": "Mismatch", "untranslatable": "Not exported"}


@pytest.fixture(scope="module")
def reports(exported: Callable[..., Published]) -> dict[str, Published]:
    """A success of 45 outputs, a mismatch, and an operator that nobody translates."""
    tokens = {"name": "tokens", "shape": ["batch", "length"], "dtype": "int64", "range": [1, 99]}
    free = FREE | {"length": {"min": 2, "max": 9}}
    scripted = {"exporter": "TorchScript"}
    square = {"name": "x", "shape": ["batch", 4, 4]}
    return {
        "many_heads": exported("many_heads", [X, tokens], dims=free, outputs=[*LONG, "sums"]),
        "baked": exported("baked", [X], dims=FREE, outputs=["scaled", "plain"], export=scripted),
        "untranslatable": exported("untranslatable", [square], dims=FREE),
    }


@dataclass
class Opened:
    """A page, and what the browser said of it."""

    page: Page
    kind: str
    console: list[str]
    requests: list[str]


@pytest.fixture(
    params=[
        pytest.param((PHONE, "light"), id="phone-light"),
        pytest.param((DESK, "dark"), id="desk-dark"),
        pytest.param((PHONE, "dark"), id="phone-dark", marks=pytest.mark.nightly),
        pytest.param((DESK, "light"), id="desk-light", marks=pytest.mark.nightly),
    ]
)
def view(request: pytest.FixtureRequest) -> tuple[int, Scheme]:
    """Width and colours; they hardly depend on each other, and axe takes 10 s for a long page."""
    return cast("tuple[int, Scheme]", request.param)


@pytest.fixture
def width(view: tuple[int, Scheme]) -> int:
    return view[0]


@pytest.fixture
def scheme(view: tuple[int, Scheme]) -> Scheme:
    return view[1]


@pytest.fixture(params=list(WORDS))
def opened(
    browser: Browser,
    reports: dict[str, Published],
    request: pytest.FixtureRequest,
    width: int,
    scheme: Scheme,
) -> Iterator[Opened]:
    """Open a report as a file."""
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    opened = Opened(context.new_page(), request.param, [], [])
    opened.page.on("console", lambda message: opened.console.append(message.text))
    opened.page.on("pageerror", lambda error: opened.console.append(str(error)))
    opened.page.on("request", lambda sent: opened.requests.append(sent.url))
    opened.page.goto(reports[request.param].page.as_uri())
    yield opened
    context.close()


def test_the_reports_are_of_what_they_should_be(reports: dict[str, Published]) -> None:
    reasons = {
        name: found.result.failure and found.result.failure.reason
        for name, found in reports.items()
    }
    assert reasons == {
        "many_heads": None,
        "baked": Reason.VERIFICATION_FAILED,
        "untranslatable": Reason.UNSUPPORTED_OPERATOR,
    }


def sections(report: dict[str, Any]) -> list[str]:
    """Return what a page of this report has to show, in order."""
    there = {
        "trouble": "failure" in report,
        "blame": "blame" in report,
        "errors": report["samples"],
        "use": "artifact" in report,
        "contract": True,
        "latency": "latencyMs" in report.get("verification", {}),
        "graph": report["operators"],
        "route": True,
        "about": True,
    }
    return [name for name, is_there in there.items() if is_there]


def test_a_page_says_its_verdict_first_and_shows_every_section(
    opened: Opened, reports: dict[str, Published]
) -> None:
    page = opened.page
    assert page.inner_text("h1").startswith(WORDS[opened.kind])
    box = page.locator("h1").bounding_box()
    assert box is not None
    assert box["y"] < 200, "the verdict is seen without scrolling"
    shown = page.locator("main h2").evaluate_all("all => all.map(one => one.id)")
    assert shown == sections(reports[opened.kind].report)
    for section in page.locator("main section").all():
        assert section.is_visible()
    links = page.locator("nav a").evaluate_all("all => all.map(one => one.hash)")
    assert links == [f"#{name}" for name in shown]


def test_a_page_asks_for_nothing_and_complains_of_nothing(
    opened: Opened, reports: dict[str, Published]
) -> None:
    opened.page.wait_for_load_state("networkidle")
    asked = [url for url in opened.requests if not url.startswith("data:")]
    assert asked == [reports[opened.kind].page.as_uri()]
    assert opened.console == []


def test_nothing_is_wider_than_the_page(opened: Opened, width: int) -> None:
    opened.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    # What is wide scrolls inside its own box, and nothing is drawn beyond one.
    beyond = opened.page.evaluate(
        """() => [...document.querySelectorAll('main *')]
            .filter(one => !one.closest('.scroll, pre, .visually-hidden, svg'))
            .filter(one => getComputedStyle(one).clipPath === 'none')
            .filter(one => !one.closest('thead') || innerWidth > 640)
            .filter(one => one.getBoundingClientRect().right > innerWidth)
            .map(one => one.outerHTML.slice(0, 80))"""
    )
    assert beyond == []
    squeezed = opened.page.evaluate(
        """() => [...document.querySelectorAll('main th, main td')]
            .filter(one => one.innerText.length > 8 && one.checkVisibility())
            .filter(one => getComputedStyle(one).clipPath === 'none' && !one.closest('thead'))
            .filter(one => one.getBoundingClientRect().width < 60)
            .map(one => one.innerText)"""
    )
    assert squeezed == []


@pytest.mark.parametrize(
    "left_out",
    [
        # Rows of a table are alike; axe takes seconds for each, and a page has up to 45.
        pytest.param(["tbody tr:nth-child(n+6)"], id="five rows"),
        pytest.param([], id="all rows", marks=pytest.mark.nightly),
    ],
)
def test_a_page_is_accessible(opened: Opened, left_out: list[str]) -> None:
    opened.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(opened.page, context={"exclude": [[rows] for rows in left_out]})
    assert found.violations_count == 0, found.generate_report()


def test_headings_are_in_order(opened: Opened) -> None:
    levels = opened.page.locator("h1, h2, h3, h4").evaluate_all(
        "all => all.map(one => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_details_open_by_keyboard(opened: Opened) -> None:
    summary = opened.page.locator("#about ~ details > summary")
    summary.focus()
    spec = opened.page.get_by_role("region", name="The spec")
    assert not spec.is_visible()
    opened.page.keyboard.press("Enter")
    assert spec.is_visible()
    opened.page.keyboard.press("Enter")
    assert not spec.is_visible()


def test_the_first_key_leads_past_the_links(opened: Opened) -> None:
    opened.page.keyboard.press("Tab")
    skip = opened.page.locator(":focus")
    assert skip.inner_text() == "Skip to the content"
    box = skip.bounding_box()
    assert box is not None
    assert box["x"] >= 0, "it is seen once it has the focus"


def test_a_page_is_printed_whole(opened: Opened) -> None:
    pdf = opened.page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 2
    opened.page.emulate_media(media="print")
    folded = opened.page.get_by_role("region", name="The spec")
    box = folded.bounding_box()
    assert box is not None
    assert box["height"] > 100, "what is folded is printed, too"


def test_differences_are_visible_without_colours(
    browser: Browser, reports: dict[str, Published]
) -> None:
    page = browser.new_page()
    page.goto(reports["baked"].page.as_uri())
    rows = page.locator(".errors").first.locator("tbody tr")
    assert rows.first.inner_text().split()[:2] == ["scaled", "≠"]
    outputs = [
        output for sample in reports["baked"].report["samples"] for output in sample["outputs"]
    ]
    for row, name in enumerate(("scaled", "plain")):
        problems = [bool(output["problem"]) for output in outputs if output["output"] == name]
        assert rows.nth(row).locator("path.differs").count() == sum(problems)
        assert rows.nth(row).locator("circle").count() == problems.count(False)
    title = rows.nth(0).locator("svg.strip > title").evaluate("one => one.textContent")
    assert re.match(r"scaled: \d+ of \d+ differ", title)
    page.close()


def test_every_sample_of_every_output_is_drawn(
    browser: Browser, reports: dict[str, Published]
) -> None:
    report = reports["many_heads"].report
    page = browser.new_page()
    page.goto(reports["many_heads"].page.as_uri())
    outputs = page.locator(".errors").filter(has=page.locator("th", has_text="Output"))
    drawn = page.locator("table.errors circle").count()
    by_output = Counter(
        output["output"] for sample in report["samples"] for output in sample["outputs"]
    )
    assert outputs.count() == 2
    # Once by output, of which the worst are drawn, and once by sample.
    shown = sum(min(count, MOST_POINTS) for count in by_output.values())
    assert drawn == shown + by_output.total()
    # Right of the tolerance nothing of a verified model is drawn.
    right = page.locator("table.errors svg.strip").evaluate_all(
        """all => all.filter(strip => {
            const limit = strip.querySelector('.limit').getBoundingClientRect().right;
            return [...strip.querySelectorAll('circle')].some(
                one => one.getBoundingClientRect().left + 3 > limit + 1);
        }).length"""
    )
    assert right == 0
    page.close()


def test_the_snippets_of_a_page_run(browser: Browser, reports: dict[str, Published]) -> None:
    published = reports["many_heads"]
    page = browser.new_page()
    page.goto(published.page.as_uri())
    shell, python = page.locator("section[aria-labelledby=use] pre").all_inner_texts()
    page.close()
    done = subprocess.run(["sh", "-ec", shell], capture_output=True, text=True, check=True)
    assert done.stdout == "model.onnx: OK\n"
    done = subprocess.run(
        [sys.executable, "-c", python],
        cwd=published.directory,
        capture_output=True,
        text=True,
        check=True,
    )
    printed: list[Any] = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in printed] == [*LONG, "sums"]
    assert printed[0][1:] == ["float32", "(1, 4)"]
    assert printed[-1][1:] == ["int64", "(1, 2)"]
