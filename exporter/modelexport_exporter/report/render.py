"""Renders a page as HTML. Everything is escaped: names and messages come from models and users.

The content security policy of the page allows its own style only, so that a browser runs and
fetches nothing even if escaping failed.
"""

from __future__ import annotations

import functools
import re

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from modelexport_exporter.core.entry_points import REPORT_TEMPLATES
from modelexport_exporter.report.page import page_of
from modelexport_exporter.report.report import Report

_TEMPLATE = "report.html.j2"
_STYLE = "report.css"
_UNPRINTABLE = dict.fromkeys(set(range(0x20)) - {0x09, 0x0A}, "\N{REPLACEMENT CHARACTER}")


def render(report: Report) -> bytes:
    """Return report.html; if rendering fails, a page that says so: the verdict does not need it."""
    try:
        return _render(report)
    except Exception as error:  # noqa: BLE001 - no verified artifact is lost for its page
        why = escape(f"{type(error).__name__}: {error}")
        page = f"<!doctype html><title>ModelExport</title><p>See report.json; no page for it: {why}"
        return page.encode(errors="replace")


def _render(report: Report) -> bytes:
    environment = environment_of(REPORT_TEMPLATES)
    style = read_own(environment, _STYLE)
    return encode(environment.get_template(_TEMPLATE).render(page=page_of(report), style=style))


def read_own(environment: Environment, name: str) -> Markup:
    """Return a style sheet or script of this package, unescaped."""
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    return Markup(source)  # noqa: S704 - a file of this package


def encode(html: str) -> bytes:
    """Return a page's bytes, with U+FFFD in place of unprintable characters."""
    return html.translate(_UNPRINTABLE).encode(errors="replace")


def breakable(name: str) -> Markup:
    """Return a name that may be broken after separators such as dots."""
    parts = re.split(r"(?<=[._/:\[\],-])", name)
    return Markup("<wbr>").join(part for part in parts if part)


def prose(sentence: str) -> Markup:
    """Return a sentence with the parts in backticks set as code."""
    parts = re.split(r"`([^`]+)`", sentence)
    marked = [
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    ]
    return Markup("").join(marked)


@functools.cache
def environment_of(*packages: str) -> Environment:
    """Return the Jinja environment for the templates of packages, with autoescape."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"breakable": breakable, "prose": prose}
    return environment
