"""What `make audit` found out: an answer about each package, or that nobody answers here."""

from __future__ import annotations

import re
from enum import StrEnum

_FOUND = re.compile(r"Found \d+ known vulnerabilit")
_NO_ANSWER = re.compile(
    r"could not be audited|ConnectionError|Could not connect|Failed to (connect|query)"
    r"|timed out|Max retries exceeded|Error for url"
)


class Answer(StrEnum):
    """How an audit ended."""

    CLEAN = "nothing is known"
    VULNERABLE = "something is known"
    NONE = "the index does not answer"
    BROKEN = "the audit itself failed"


def answer(code: int, output: str) -> Answer:
    """Read exit code and OUTPUT of pip-audit, or of several in a row.

    What is known counts more than what was not answered: it needs somebody.
    """
    if code == 0:
        return Answer.CLEAN
    if _FOUND.search(output):
        return Answer.VULNERABLE
    return Answer.NONE if _NO_ANSWER.search(output) else Answer.BROKEN
