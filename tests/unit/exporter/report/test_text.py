from __future__ import annotations

import math

import pytest

from modelexport_exporter.report import text

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (0.0123, "0.0123"),
        (7.63e-6, "7.6e-6"),
        (19.02, "19"),
        (4321.0, "4321"),
        (1.5e9, "1.5e9"),
        (-2e-7, "-2.0e-7"),
        ("nan", "NaN"),
        ("inf", "∞"),
        ("-inf", "-∞"),
    ],
)
def test_numbers(value: float | str, said: str) -> None:
    assert text.number(value) == said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.0, "no error"),
        (1e-15, "almost no error"),
        (1 / 247, "1/247 of the tolerance"),
        (1e-6, f"1/1{SPACE}000{SPACE}000 of the tolerance"),
        (0.5, "1/2 of the tolerance"),
        (0.9999, "99 % of the tolerance"),
        (1.0, "100 % of the tolerance"),
        (1.0001, "1.1× the tolerance"),
        (300.4, "300× the tolerance"),
        (9.9e6, "9.9e6× the tolerance"),
        (math.inf, "beyond any tolerance"),
        (math.nan, "beyond any tolerance"),
    ],
)
def test_an_error_relative_to_its_limit(ratio: float, said: str) -> None:
    """What is within the limit never reads as beyond it, nor the other way round."""
    assert text.of_limit(ratio) == said


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (43_136, "43.1 kB"), (521_355_264, "521 MB")]
)
def test_sizes(count: int, said: str) -> None:
    assert text.size(count) == said.replace(" ", SPACE)


@pytest.mark.parametrize(
    ("value", "said"), [(0.004, "4 ms"), (1.43, "1.4 s"), (125.4, "2 min 5 s")]
)
def test_seconds(value: float, said: str) -> None:
    assert text.seconds(value).replace(SPACE, " ") == said


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0"), (320, "320"), (11_689_512, "11.7 M"), (7_000_000_000, "7 B")]
)
def test_parameters(count: int, said: str) -> None:
    assert text.parameters(count) == said.replace(" ", SPACE)


def test_nouns_are_counted() -> None:
    assert text.many(1, "sample") == f"1{SPACE}sample"
    assert text.many(1200, "node") == f"1{SPACE}200{SPACE}nodes"


def test_no_dims_have_words() -> None:
    assert text.dims({"batch": 3, "seq": 9}) == "batch=3, seq=9"
    assert text.dims({}) == "the declared sizes"


def test_latency_has_three_digits() -> None:
    assert [text.milliseconds(value) for value in (0.4249, 12.34, 1234.5)] == [
        f"{said}{SPACE}ms" for said in ("0.42", "12.3", "1234")
    ]
