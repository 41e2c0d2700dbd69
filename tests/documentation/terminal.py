"""What a terminal shows after a program wrote to it, line by line: pure.

It knows what rich writes: text with styles, and the control sequences by which a live display is
drawn again (to the beginning of a line, up a line, clear a line).
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\r|\n|\x1b\[\?\d+[hl]|\x1b\[(\d*)([A-HJKm])|\x1b\[[\d;]*m|[^\r\n\x1b]+|\x1b")


def shown(output: str) -> str:
    """Return the lines at the end, with the sequences of their styles."""
    rows, row = [""], 0
    for token in _TOKEN.finditer(output):
        text, count, command = token.group(), token.group(1), token.group(2)
        if text == "\n":
            row += 1
            rows.extend("" for _ in range(row + 1 - len(rows)))
        elif command == "A":
            row = max(row - int(count or 1), 0)
        elif command in {"K", "J"}:
            rows[row] = ""
        elif text.endswith("m") or not text.startswith(("\x1b", "\r")):
            rows[row] += text
    return "\n".join(rows).rstrip()
