"""`modelexport explain`: what a reason means and what helps, without a network."""

from __future__ import annotations

import re
import sys
from importlib import resources

from modelexport_api.nearest import did_you_mean

PAGE = "reasons.md"
"""In this package: the page docs/reasons.md."""
_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")


def print_explanation(reason: str | None) -> int:
    """Print the explanation of a reason, or the list of reasons; return the exit code."""
    found = explanations((resources.files("modelexport_cli") / PAGE).read_text("utf-8"))
    if reason is None:
        for name, text in found.items():
            print(f"{name:<24}{first_sentence(text)}")
        return 0
    if reason not in found:
        asked = did_you_mean(reason, found) or "all are listed by: modelexport explain"
        print(f"there is no reason {reason}; {asked}", file=sys.stderr)
        return 2
    print(f"{reason}\n\n{found[reason]}")
    return 0


def explanations(page: str) -> dict[str, str]:
    """Return the text under each reason's heading, as plain text with its exit code."""
    found: dict[str, str] = {}
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title, *sections = re.split(r"^### ", part, flags=re.MULTILINE)
        code = re.search(r"exit code \d+", title)
        for section in sections:
            name, _, text = section.partition("\n")
            ending = f"\n\n{code.group().capitalize()}." if code else ""
            found[name.strip()] = _plain(text).strip() + ending
    return found


def first_sentence(text: str) -> str:
    """Return the first sentence of a text on one line."""
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def _plain(text: str) -> str:
    return _LINK.sub(lambda link: link[1], text).replace("`", "")
