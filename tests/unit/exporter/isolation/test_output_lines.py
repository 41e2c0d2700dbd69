"""Output of any size becomes a log of limited size, in a time that grows with its bytes."""

from __future__ import annotations

import time

import pytest

from modelexport_exporter.isolation.output_lines import (
    FIRST_LINES,
    LAST_LINES,
    LINE_BYTES,
    OutputLines,
)


def lines_of(*parts: bytes) -> list[str]:
    output = OutputLines()
    found = [line for part in parts for line in output.feed(part)]
    return [*found, *output.end()]


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ((b"a\nb\n",), ["a", "b"]),
        ((b"a", b"b\n", b"c"), ["ab", "c"]),
        ((b"\n\n  \na  \n",), ["a"]),
        ((b"a\r\n",), ["a"]),
        ((b" 10 %\r 20 %\n",), [" 10 %  20 %"]),
        ((b"\x1b[31mred\x1b[0m\n",), ["red"]),
        ((b"\x1b]0;title\x07\x1b[2J\n",), [r"\x1b]0;title\x07\x1b[2J"]),
        ((b"\xff\n",), ["\N{REPLACEMENT CHARACTER}"]),
        ((), []),
        ((b"x" * (LINE_BYTES + 7) + b"\ny",), ["x" * LINE_BYTES + " [7 more bytes]", "y"]),
        ((b"x" * LINE_BYTES, b"x", b"x\n"), ["x" * LINE_BYTES + " [2 more bytes]"]),
    ],
)
def test_lines(parts: tuple[bytes, ...], lines: list[str]) -> None:
    assert lines_of(*parts) == lines


def test_a_line_is_passed_on_when_it_is_printed() -> None:
    assert list(OutputLines().feed(b"now\nlater")) == ["now"]


def test_the_first_and_the_last_lines_of_a_million() -> None:
    count = 1_000_000
    data = "".join(f"{number}\n" for number in range(count)).encode()
    found = lines_of(*(data[at : at + 65536] for at in range(0, len(data), 65536)))
    assert len(found) == FIRST_LINES + 1 + LAST_LINES
    assert found[:2] == ["0", "1"]
    assert found[-1] == str(count - 1)
    left_out = count - FIRST_LINES - LAST_LINES
    assert found[FIRST_LINES] == f"[{left_out} lines are left out here]"


def test_a_few_lines_too_many_are_all_there() -> None:
    count = FIRST_LINES + LAST_LINES
    found = lines_of(b"".join(b"%d\n" % number for number in range(count)))
    assert found == [str(number) for number in range(count)]


def test_output_without_a_newline_takes_time_that_grows_with_its_bytes() -> None:
    """64 MB took 298 s, because each read was joined to all before it."""
    began = time.process_time()
    (line,) = lines_of(*[b"x" * 65536] * 1024)
    assert line == "x" * LINE_BYTES + f" [{65536 * 1024 - LINE_BYTES} more bytes]"
    assert time.process_time() - began < 5
