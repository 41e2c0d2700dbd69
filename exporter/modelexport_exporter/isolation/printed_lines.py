"""Cuts what a worker printed into lines, as many and as long as a log should hold. Pure."""

from __future__ import annotations

from collections.abc import Callable

OnOutput = Callable[[str], None]
"""Called with each line that a worker printed."""

LINE_BYTES = 2000
MOST_LINES = 10_000
"""In one call. A log line takes 50 µs, and what reads the log has to keep up."""


class PrintedLines:
    """Passes lines on: the first ones of a call to the log, all of them to `on_line`."""

    def __init__(self, on_output: OnOutput, on_line: OnOutput) -> None:
        self._on_output = on_output
        self._on_line = on_line
        self._begun = b""
        self._count = 0

    def add(self, data: bytes) -> None:
        """Take bytes that were printed."""
        *ended, rest = data.split(b"\n")
        for end in ended:
            self._pass_on(self._begun + end[:LINE_BYTES])
            self._begun = b""
        self._begun = (self._begun + rest[:LINE_BYTES])[:LINE_BYTES]

    def end(self) -> None:
        """Pass on the last line, which has no end."""
        self._pass_on(self._begun)
        self._begun = b""

    def _pass_on(self, line: bytes) -> None:
        text = line[:LINE_BYTES].decode(errors="replace").rstrip()
        if not text:
            return
        self._on_line(text)
        self._count += 1
        if self._count <= MOST_LINES:
            self._on_output(text)
        elif self._count == MOST_LINES + 1:
            self._on_output(f"(more than {MOST_LINES:,} lines were printed: no others are logged)")
