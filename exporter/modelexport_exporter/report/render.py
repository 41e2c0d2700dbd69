"""A page becomes HTML. Everything is escaped: names and messages come from models and users.

The content security policy of the page allows its own style and nothing else, so that no browser
runs or fetches anything for it even if something foreign got through.
"""

from __future__ import annotations

import functools
import re

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from modelexport_exporter.report.page import page_of
from modelexport_exporter.report.report import Report

_TEMPLATE = "report.html.j2"
_STYLE = "report.css"
_UNPRINTABLE = dict.fromkeys(set(range(0x20)) - {0x09, 0x0A}, "\N{REPLACEMENT CHARACTER}")


def render(report: Report) -> bytes:
    """Return report.html; a page that cannot be made says so, since the verdict stands without."""
    try:
        return _rendered(report)
    except Exception as error:  # noqa: BLE001 - no verified artifact is lost for its page
        why = escape(f"{type(error).__name__}: {error}")
        page = f"<!doctype html><title>ModelExport</title><p>See report.json; no page for it: {why}"
        return page.encode(errors="replace")


def _rendered(report: Report) -> bytes:
    environment = environment_of("modelexport_exporter.report")
    style = own(environment, _STYLE)
    return encoded(environment.get_template(_TEMPLATE).render(page=page_of(report), style=style))


def own(environment: Environment, name: str) -> Markup:
    """Return a style or script of ours, as it is."""
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    return Markup(source)  # noqa: S704 - a file of this package


def encoded(html: str) -> bytes:
    """Return a page's bytes; what nobody can print is shown as such."""
    return html.translate(_UNPRINTABLE).encode(errors="replace")


def breakable(name: str) -> Markup:
    """Return a name that may be broken after what joins its parts."""
    parts = re.split(r"(?<=[._/:\[\],-])", name)
    return Markup("<wbr>").join(part for part in parts if part)


def prose(said: str) -> Markup:
    """Return a sentence with what stands in backticks set as code."""
    parts = re.split(r"`([^`]+)`", said)
    marked = [
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    ]
    return Markup("").join(marked)


@functools.cache
def environment_of(*packages: str) -> Environment:
    """Return what renders the templates of packages, with everything escaped."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"breakable": breakable, "prose": prose}
    return environment
