"""Run the suite and write its page: python -m mutants [--each N] [--only MODEL ...]."""

from __future__ import annotations

import argparse
import sys
import time

from mutants.crew import full_run
from mutants.page import PAGE, render
from mutants.plan import EACH
from mutants.study import Report
from mutants.subjects import SUBJECTS


def main() -> int:
    """Run the study; return 0 if every model was studied."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("--each", type=int, default=EACH, help="mutants of a model")
    parser.add_argument("--only", nargs="*", help="models; the page is not written")
    arguments = parser.parse_args()
    names = arguments.only or [subject.name for subject in SUBJECTS]
    begin = time.monotonic()
    reports = full_run(names, arguments.each, print_report)
    missed = sum(not finding.ours.refused for report in reports for finding in report.findings)
    total = sum(len(report.findings) for report in reports)
    print(f"{total - missed} of {total} caught in {time.monotonic() - begin:.0f} s")
    if arguments.only:
        return 0
    PAGE.write_text(render(reports))
    return 0


def print_report(report: Report) -> None:
    """Print the result of a model."""
    caught = sum(finding.ours.refused for finding in report.findings)
    refused = [whole.ours.why for whole in report.wholes if whole.ours.refused]
    line = f"{report.subject}: {caught} of {len(report.findings)} caught, {report.seconds:.0f} s"
    print(line, *(f"REFUSED {why}" for why in refused), flush=True)
    for finding in report.findings:
        if not finding.ours.refused:
            print(f"  missed: {finding.mutant.name} {finding.change}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
