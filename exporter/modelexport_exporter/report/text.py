"""Numbers and sizes as people write them. Pure."""

from __future__ import annotations

import math

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e5
_WHOLE_BELOW = 1e12
_UNITS = ("B", "kB", "MB", "GB", "TB")
_THOUSAND = 1000
_MINUTE = 60
_ALWAYS_ROUGHLY = 1e-12


def number(value: float | str) -> str:
    """Return `0.0123`, `7.6e-6`, `NaN` or `∞`."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return f"{value:.3g}" if abs(value) < _THOUSAND else f"{value:.0f}"
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def plain(value: float) -> str:
    """Return a whole number as such, and any other one rounded."""
    whole = math.isfinite(value) and value == round(value) and abs(value) < _WHOLE_BELOW
    return str(round(value)) if whole else number(value)


def power(exponent: int) -> str:
    """Return `10⁻⁶`."""
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


def of_limit(ratio: float) -> str:
    """Return an error relative to its tolerance: `1/247 of the tolerance`, `3.1× the tolerance`."""
    if math.isnan(ratio) or math.isinf(ratio):
        return "beyond any tolerance"
    if ratio <= 0:
        return "no error"
    if ratio < _ALWAYS_ROUGHLY:
        return "almost no error"
    half = 0.5
    if ratio <= half:
        part = 1 / ratio
        return f"1/{grouped(round(part))} of the tolerance"
    if ratio <= 1:
        return f"{math.floor(ratio * 100)} % of the tolerance"
    return f"{_factor(ratio)}× the tolerance"


def _factor(ratio: float) -> str:
    ten = 10
    if ratio < ten:
        return f"{math.ceil(ratio * 10) / 10:.1f}"
    return grouped(round(ratio)) if ratio < _PLAIN_BELOW else number(ratio)


def grouped(count: int) -> str:
    """Return `1 234 567`, with spaces that do not break."""
    return f"{count:,}".replace(",", "\N{NO-BREAK SPACE}")


def many(count: int, noun: str) -> str:
    """Return `1 sample`, `16 samples`."""
    return f"{grouped(count)}\N{NO-BREAK SPACE}{noun}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """Return `43.1 kB`."""
    value, unit = float(count), 0
    while value >= _THOUSAND and unit < len(_UNITS) - 1:
        value, unit = value / _THOUSAND, unit + 1
    digits = 0 if unit == 0 or value >= 100 else 1  # noqa: PLR2004 - three digits are enough
    return f"{value:.{digits}f}\N{NO-BREAK SPACE}{_UNITS[unit]}"


def parameters(count: int) -> str:
    """Return `11.7 M`."""
    for factor, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= factor:
            return f"{count / factor:.3g}\N{NO-BREAK SPACE}{unit}"
    return str(count)


def seconds(value: float) -> str:
    """Return `4 ms`, `1.4 s` or `2 min 5 s`."""
    if value < 1:
        return f"{value * 1000:.0f}\N{NO-BREAK SPACE}ms"
    if value < _MINUTE:
        return f"{value:.1f}\N{NO-BREAK SPACE}s"
    whole = round(value)
    return f"{whole // _MINUTE}\N{NO-BREAK SPACE}min {whole % _MINUTE}\N{NO-BREAK SPACE}s"


def milliseconds(value: float) -> str:
    """Return `0.42 ms`, to three digits."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2  # noqa: PLR2004
    return f"{value:.{digits}f}\N{NO-BREAK SPACE}ms"


def dims(sizes: dict[str, int]) -> str:
    """Return `batch=3, height=64`."""
    return ", ".join(f"{name}={length}" for name, length in sizes.items()) or "the declared sizes"
