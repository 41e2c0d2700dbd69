"""What a worker prints, as lines, however much it is.

Guarantees that the supervisor needs the same time for each byte and little memory, also for output
without a newline, that a log has the first and the last lines of a million, and that a terminal
which shows it obeys nothing in it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from modelexport_exporter.core.errors import printable

OnOutput = Callable[[str], None]
"""Called with each line that a worker printed."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
LINE_BYTES = 2000
"""Longer lines are cut."""
FIRST_LINES = 2000
"""Passed on when they are printed."""
LAST_LINES = 200
"""Passed on at the end, if there were more."""


@dataclass
class OutputLines:
    """The lines of one worker's output."""

    _begun: bytearray = field(default_factory=bytearray)
    """Of the last line, which has not ended: its first bytes."""
    _dropped: int = 0
    """Bytes of that line that are not in `_begun`."""
    _passed: int = 0
    _left_out: int = 0
    _last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield the lines to pass on."""
        *ended, begun = data.split(b"\n")
        for part in ended:
            self._extend(part)
            yield from self._end_line()
        self._extend(begun)

    def end(self) -> Iterator[str]:
        """Yield what was held back; a line without a newline ends here."""
        yield from self._end_line()
        if self._left_out > len(self._last):
            yield f"[{self._left_out - len(self._last)} lines are left out here]"
        yield from self._last
        self._last.clear()
        self._passed = self._left_out = 0

    def _extend(self, part: bytes) -> None:
        room = LINE_BYTES - len(self._begun)
        self._begun += part[:room]
        self._dropped += max(0, len(part) - room)

    def _end_line(self) -> Iterator[str]:
        text = _COLOURS.sub("", self._begun.decode(errors="replace")).rstrip()
        text = printable(text.replace("\r", " "))
        if self._dropped:
            text += f" [{self._dropped} more bytes]"
        self._begun.clear()
        self._dropped = 0
        if not text:
            return
        if self._passed < FIRST_LINES:
            self._passed += 1
            yield text
        else:
            self._left_out += 1
            self._last.append(text)
