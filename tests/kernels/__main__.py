"""Sweep onnxruntime's kernels and write docs/onnxruntime.md: python -m kernels."""

from __future__ import annotations

import sys

from kernels.dispositions import DISPOSITIONS
from kernels.page import PAGE, differences, render, rows, unswept


def main() -> int:
    """Write the page; return 1 if a difference or an operator is not accounted for."""
    found = rows(differences())
    unknown = [row for row in found if (row.operator, row.kind) not in DISPOSITIONS]
    for row in unknown:
        print(f"no disposition: {row.operator} {row.kind} {row.inputs} {row.example}")
    for operator in sorted(unswept()):
        print(f"neither swept nor left out: {operator}")
    if unknown or unswept():
        return 1
    PAGE.write_text(render(found))
    print(f"{len(found)} differences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
