"""Make trouble, and count how it ends: python -m chaos --help."""

from __future__ import annotations

import argparse
import sys

from chaos import journal, page, parts


def main() -> int:
    """Run the parts; return 1 if something did not hold."""
    names = parts.names()
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all, or of: {', '.join(names)}")
    parser.add_argument(
        "--count", type=int, help="cases of each part; by default those of the page"
    )
    parser.add_argument("--seed", type=int, default=0, help="draws the instants and the cases")
    parser.add_argument(
        "--page", action="store_true", help="write docs/reliability.md; alone, from the journals"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(names):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    chosen = arguments.parts or ([] if arguments.page else names)
    held = [run(name, arguments.count, arguments.seed) for name in chosen]
    if arguments.page:
        write_page(names)
    return int(not all(held))


def run(name: str, count: int | None, seed: int) -> bool:
    """Run a part and write its journal after each row; return whether all held."""
    rows: list[journal.Row] = []
    for row in parts.load(name).run(count, seed):
        rows.append(row)
        print(f"{name}: {row.what}: {row.held} of {row.tried} held. {row.remarks}", flush=True)
        journal.write(name, rows)
    return all(row.held == row.tried for row in rows)


def write_page(names: list[str]) -> None:
    """Write docs/reliability.md; a part without a journal keeps its section."""
    sections = {}
    for name in names:
        if (rows := journal.read(name)) is not None:
            part = parts.load(name)
            sections[name] = page.section(name, part.TITLE, part.TEXT, rows)
    old = page.PAGE.read_text() if page.PAGE.exists() else ""
    page.PAGE.write_text(page.compose(sections, old))


if __name__ == "__main__":
    sys.exit(main())
