"""index.html of a batch in a real browser: it filters, it sorts, and it fetches nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from modelexport_api.reasons import Reason
from modelexport_exporter.batch.index_page import render
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.batch.results import Results, reasons_of

pytestmark = pytest.mark.browser

COUNT = 1000
FAILED = (7, 400)
NOT_TRIED = 999


def item(index: int, root: str) -> ItemResult:
    known: dict[str, Any] = {
        "index": index,
        "name": f"fold-{index}.pt",
        "uri": f"s3://b/run/fold-{index}.pt",
        "destination": f"{root}fold-{index}/",
        "outcome": "Succeeded",
        "limit_share": ((index * 37) % COUNT) / COUNT,
        "seconds": float(index),
        "report_uri": f"{root}fold-{index}/report.json",
    }
    if index in FAILED:
        message = "a message without an end " * 20
        known |= {"outcome": "Failed", "reason": Reason.CHECKPOINT_CORRUPT, "message": message}
        known |= {"limit_share": None}
    if index == NOT_TRIED:
        known |= {"outcome": "Pending", "limit_share": None, "seconds": None, "report_uri": None}
    return ItemResult.model_validate(known)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("onnx")
    items = [item(index, f"{root.as_uri()}/") for index in range(COUNT)]
    results = Results(
        name="folds",
        total=COUNT,
        succeeded=COUNT - 3,
        failed=2,
        pending=1,
        reasons=reasons_of(items),
        items=items,
    )
    directory = root / "batches" / "folds-1"
    directory.mkdir(parents=True)
    (directory / "index.html").write_bytes(render(results, f"{directory.as_uri()}/"))
    (root / "fold-7").mkdir()
    (root / "fold-7" / "report.html").write_text("<title>the report of fold 7</title>")
    return directory / "index.html"


@dataclass
class Opened:
    """The page, and what the browser said of it."""

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def names(self, most: int = 5) -> list[str]:
        """The checkpoints that are seen, from the top."""
        found: list[str] = self.page.eval_on_selector_all(
            ".items tbody tr:not([hidden]) th", "cells => cells.map(cell => cell.textContent)"
        )
        return found[:most]


PHONE = pytest.param((390, "light"), id="phone")
DESK = pytest.param((1280, "dark"), id="desk")


@pytest.fixture(params=[PHONE, DESK])
def opened(browser: Browser, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.console.append(message.text))
    found.page.on("pageerror", lambda error: found.console.append(str(error)))
    found.page.on("request", lambda sent: found.requests.append(sent.url))
    found.page.goto(page_file.as_uri())
    yield found
    context.close()


def test_it_loads_nothing_and_complains_of_nothing(opened: Opened, page_file: Path) -> None:
    assert opened.requests == [page_file.as_uri()]
    assert opened.console == []


def test_what_failed_is_on_top(opened: Opened) -> None:
    assert opened.names(3) == ["fold-7.pt", "fold-400.pt", "fold-999.pt"]
    assert opened.page.inner_text("h1").startswith("997 of 1\N{NO-BREAK SPACE}000 verified")


def test_words_find_rows(opened: Opened) -> None:
    opened.page.fill("#find", "corrupt fold-4")
    assert opened.names() == ["fold-400.pt"]
    assert opened.page.inner_text("#count") == "1 of 1000"
    opened.page.fill("#find", "")
    assert len(opened.names(COUNT)) == COUNT


@pytest.mark.parametrize("opened", [DESK], indirect=True)
def test_columns_sort(opened: Opened) -> None:
    """A phone shows no heads of columns, only a screen reader finds them there."""
    opened.page.click("thead button:has-text('Checkpoint')")
    assert opened.names(3) == ["fold-0.pt", "fold-1.pt", "fold-2.pt"], "numbers as numbers"
    opened.page.click("thead button:has-text('Time')")
    opened.page.click("thead button:has-text('Time')")
    assert opened.names(2) == ["fold-998.pt", "fold-997.pt"]
    assert opened.page.get_attribute("thead th:has-text('Time')", "aria-sort") == "descending"
    opened.page.click("thead button:has-text('Answer')")
    assert opened.names(1) == ["fold-7.pt"]


def test_the_way_to_a_report_is_relative(opened: Opened) -> None:
    opened.page.click("text=Report of fold-7.pt")
    assert opened.page.title() == "the report of fold 7"


def test_nothing_is_cut_off(opened: Opened) -> None:
    wide = opened.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0


def test_it_is_accessible(opened: Opened) -> None:
    opened.page.evaluate(
        "[...document.querySelectorAll('.items tbody tr')].slice(20).forEach(row => row.remove())"
    )
    found = Axe().run(opened.page).response["violations"]
    assert [violation["id"] for violation in found] == []


def test_without_scripts_the_table_is_there(browser: Browser, page_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator(".items tbody tr").count() == COUNT
    assert not page.locator("#find").is_visible()
    context.close()
