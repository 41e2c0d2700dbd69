"""The documentation site in a real browser: it is built without a warning, and requests nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
PAGES = ("index.html", "start.html", "comparison.html", "reference/fields.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page(site: Path, browser: Browser, name: str, scheme: Literal["light", "dark"]) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    messages: list[str] = []
    elsewhere: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: elsewhere.append(request.url))
    page.goto((site / name).as_uri())
    page.wait_for_load_state("networkidle")
    assert messages == []
    assert [url for url in elsewhere if not url.startswith("file://")] == []
    expected = {"light": "default", "dark": "slate"}[scheme]
    assert page.locator("body").get_attribute("data-md-color-scheme") == expected
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


def test_every_page_of_the_index_is_in_the_navigation(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    listed = page.locator("article li a").evaluate_all("links => links.map(link => link.href)")
    navigation = page.locator(".md-nav--primary a").evaluate_all(
        "links => links.map(link => link.href)"
    )
    pages = {link for link in listed if "/repository/" not in link}
    assert pages
    assert pages <= set(navigation)
    page.close()


def test_the_search_works_from_the_file_system(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "index.html").as_uri())
    search = page.get_by_role("textbox", name="Search")
    search.click()
    page.get_by_text("Type to start searching").wait_for()
    search.press_sequentially("padding mask")
    page.locator(".md-search-result__item").first.wait_for()
    page.close()
