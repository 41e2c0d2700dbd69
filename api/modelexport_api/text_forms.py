"""Patterns of the spec in words, and the text that a wrong one was meant as: pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from modelexport_api.sizes import FORM


@dataclass(frozen=True)
class Form:
    """A form of text."""

    says: str
    """What it is, for a sentence: `a name of letters, digits and _`."""
    meant: Callable[[str], str | int | None] = lambda _: None
    """Return the text of this form to write instead; None if it cannot be known."""
    unfit: Callable[[str], str] = lambda _: ""
    """Return what to know where there is no such text."""


def _name(text: str) -> str | None:
    name = re.sub(r"[^A-Za-z0-9_.]+", "_", text.strip()).strip("_.")
    if not re.search(r"[A-Za-z]", name):
        return None
    return name if re.match(r"[A-Za-z_]", name) else f"x_{name}"


def _dim(text: str) -> str | None:
    name = _name(text)
    return name.replace(".", "_") if name else None


def _module(text: str) -> str | None:
    """Return `package.module` for `package/module.py`."""
    path = text.strip().removeprefix("./").removesuffix(".py").strip("/")
    return _name(path.replace("/", ".").replace("-", "_")) if path else None


def _callable(text: str) -> str | None:
    """Return `module:callable` for `module.py:callable()`, `module.callable`, `a/b.py::f`."""
    bare = re.sub(r"\(.*\)$", "", text.strip()).replace("::", ":")
    module, colon, name = bare.rpartition(":")
    if not colon:
        module, _, name = bare.rpartition(".")
        if name == "py" or "/" in name:
            return None
    found = _module(module)
    return f"{found}:{name}" if found and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name) else None


def _unfit_callable(text: str) -> str:
    return f"name the function in it: {_module(text) or 'module'}:build" if text.strip() else ""


def _size(text: str) -> str | int | None:
    """Return the expression or number that a size was meant as."""
    bare = text.strip()
    if re.fullmatch(r"[0-9]{1,9}", bare):
        return int(bare)
    name = r"[A-Za-z_][A-Za-z0-9_]*"
    if found := re.fullmatch(rf"({name}) *[*] *([1-9][0-9]*)(?: *([+-]) *([1-9][0-9]*))?", bare):
        rest = f" {found[3]} {found[4]}" if found[3] else ""
        return f"{found[2]} * {found[1]}{rest}"
    if found := re.fullmatch(rf"([1-9][0-9]*) *[+] *({name})", bare):
        return f"{found[2]} + {found[1]}"
    if found := re.fullmatch(rf"([1-9][0-9]*) *[*]? *({name}) *([+-]) *([1-9][0-9]*)", bare):
        return f"{found[1]} * {found[2]} {found[3]} {found[4]}"
    return None if re.search(r"[*/+()%<>=?-]", bare) else _dim(bare)


def _unfit_size(text: str) -> str:
    if "/" in text or "%" in text:
        return "declare the smaller size as the dim, and write the larger one as 2 * n"
    return "write a name, and its sizes in dims: {batch: {min: 1, max: 64}}"


def _digest(text: str) -> str | None:
    bare = text.strip().lower().removeprefix("sha256:")
    return bare if re.fullmatch(r"[0-9a-f]{64}", bare) else None


def _unfit_digest(text: str) -> str:
    wrong = sorted(set(re.sub(r"[0-9a-f]", "", text.lower())))
    found = f"it has {len(text)} characters" + (f", {' '.join(wrong)} among them" if wrong else "")
    return f"{found}; sha256sum FILE prints it"


def _endpoint(text: str) -> str | None:
    parts = re.match(r"(https?://)?(?:[^/@]*@)?", text.strip())
    assert parts is not None  # it matches every text
    scheme, bare = parts[1], text.strip()[parts.end() :]
    fits = re.fullmatch(r"[A-Za-z0-9.-]+(:\d+)?(/.*)?", bare)
    return f"{scheme or 'https://'}{bare}" if fits else None


def _domain(text: str) -> str | None:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text.strip()) or None


def _kind(text: str) -> str | None:
    bare = re.sub(r"[^A-Za-z0-9]", "", text)
    return bare[0].upper() + bare[1:] if bare and bare[0].isalpha() else None


def _label(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-_.")


_LETTERS = "letters, digits and _ that begins with a letter or _"

FORMS: Mapping[str, Form] = {
    r"^[A-Za-z_][A-Za-z0-9_.]*$": Form(f"a name of {_LETTERS}; dots may separate parts", _name),
    r"^[A-Za-z_][A-Za-z0-9_]*$": Form(f"a name of {_LETTERS}", _dim),
    FORM: Form(
        "a number, a name from dims, or an expression such as n - 1, 2 * n + 1 or past + n",
        _size,
        _unfit_size,
    ),
    r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*$": Form(
        "package.module:callable, such as model:build", _callable, _unfit_callable
    ),
    r"^[0-9a-f]{64}$": Form("64 hexadecimal digits in lower case", _digest, _unfit_digest),
    r"^https?://[^/@]+(/.*)?$": Form(
        "a URL that begins with https:// or http:// and has no credentials", _endpoint
    ),
    r"^[A-Za-z0-9_.-]+$": Form("an operator domain of letters, digits, _, . and -", _domain),
    r"^[A-Z][A-Za-z0-9]*$": Form(
        "a kind: letters and digits that begin with a capital letter, such as Job", _kind
    ),
    r"^([a-z0-9.-]+/)?v[a-z0-9]+$": Form("a group and version such as batch/v1"),
    r"^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$": Form(
        "a label value: letters, digits, -, _ and . that begin and end with a letter or digit",
        _label,
    ),
}
"""By pattern. That of URIs is in `uri_forms`."""
