"""Run torch's own operators: `python -m operators --help`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import torch

from modelexport_exporter.isolation.server import start_server
from operators.entries import MOST_SAMPLES, cases
from operators.journal import run_cases
from operators.page import write_pages
from operators.results import Outcome

JOURNAL = Path("build/operators.jsonl")


def main() -> int:
    """Run the cases; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m operators", description=__doc__)
    parser.add_argument("--only", nargs="*", default=(), help="names of entries")
    parser.add_argument("--dtypes", nargs="*", default=(), help="float32, int64, …; all without")
    parser.add_argument(
        "--samples", type=int, default=MOST_SAMPLES, help="of an entry in a dtype, 2 at least"
    )
    parser.add_argument(
        "--dynamic",
        action=argparse.BooleanOptionalAction,
        help="with a dynamic dim only, or without; both without it",
    )
    parser.add_argument("--part", default="1/1", help="2/5: the second of every five cases")
    parser.add_argument("--journal", type=Path, default=JOURNAL)
    parser.add_argument("--page", action="store_true", help="write docs/operators*.md")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    start_server(["warm_workers", "operators.entries"])
    part, parts = map(int, arguments.part.split("/"))
    wanted = [
        case
        for case in cases(arguments.only)
        if (not arguments.dtypes or case.dtype in arguments.dtypes)
        and arguments.dynamic in (None, case.dynamic)
    ]
    results = run_cases(wanted[part - 1 :: parts], arguments.journal, arguments.samples)
    print(dict(Counter(result.outcome.value for result in results)))
    if arguments.page:
        write_pages(results, arguments.samples)
    return int(any(result.outcome is Outcome.WRONG for result in results))


if __name__ == "__main__":
    sys.exit(main())
