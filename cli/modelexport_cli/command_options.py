"""What several subcommands have in common: their form, and options that they share."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any, NoReturn

from modelexport_api.nearest import did_you_mean

_INVALID_CHOICE = re.compile(r"invalid choice: '(?P<given>.*?)' \(choose from (?P<choices>.*)\)")


class Parser(argparse.ArgumentParser):
    """Names the choice that was meant, where one is misspelled."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message to standard error; exit with 2."""
        found = _INVALID_CHOICE.search(message)
        if found is not None:
            choices = re.findall(r"[\w-]+", found["choices"])
            message = "; ".join(filter(None, [message, did_you_mean(found["given"], choices)]))
        super().error(message)


def add_command(
    commands: Any,  # noqa: ANN401 - argparse hides its type
    name: str,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """Add a subcommand, and return its parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the output format. `what`: what json prints."""
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help=f"output format; json prints only {what} to standard output (default: text)",
    )


def add_work_dir(parser: argparse.ArgumentParser) -> None:
    """Add the option for the directory of downloads."""
    parser.add_argument(
        "--work-dir",
        type=Path,
        metavar="DIR",
        help="directory for downloads and unfinished files (default: a temporary directory)",
    )


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Add the option that shows everything."""
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show every message, and what the model's code and torch print",
    )
