"""Output becomes lines, of which a log has room for all."""

from __future__ import annotations

import time

from modelexport_exporter.isolation.printed_lines import LINE_BYTES, MOST_LINES, PrintedLines


def printed(*data: bytes) -> tuple[list[str], list[str]]:
    logged: list[str] = []
    seen: list[str] = []
    lines = PrintedLines(logged.append, seen.append)
    for part in data:
        lines.add(part)
    lines.end()
    return logged, seen


def test_lines_may_be_cut_anywhere() -> None:
    logged, seen = printed(b"one\ntw", b"o\n\n", b"thr", b"ee")
    assert logged == seen == ["one", "two", "three"]


def test_a_long_line_is_cut() -> None:
    logged, _ = printed(b"x" * 5000 + b"\nnext\n")
    assert logged == ["x" * LINE_BYTES, "next"]


def test_output_without_an_end_of_line_takes_no_time_that_grows_with_it() -> None:
    began = time.monotonic()
    logged, _ = printed(*[b"x" * 65536] * 1000)
    assert logged == ["x" * LINE_BYTES]
    assert time.monotonic() - began < 2


def test_more_lines_than_a_log_holds_are_only_seen() -> None:
    logged, seen = printed(b"x\n" * (MOST_LINES + 5))
    assert len(seen) == MOST_LINES + 5
    assert len(logged) == MOST_LINES + 1
    assert f"{MOST_LINES:,} lines" in logged[-1]
