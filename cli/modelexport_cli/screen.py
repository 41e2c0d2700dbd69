"""How every command prints to a terminal or a file: marks, labelled values and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

_LABEL = 10
_NARROWEST = 20
_NO_END = 100_000
"""The width of what is no terminal: programs read whole lines."""


def console_for(stream: TextIO) -> Console:
    """Return a console that colours only what a command styles; it honours NO_COLOR."""
    return Console(file=stream, highlight=False, width=None if stream.isatty() else _NO_END)


def marks(console: Console) -> tuple[str, str]:
    """Return the marks for success and failure that the console can show."""
    return ("+", "x") if console.options.ascii_only else ("✓", "✗")


def print_value(
    console: Console,
    label: str,
    value: str,
    style: str = "",
    *,
    label_style: str = "bold",
    wrap: bool = True,
) -> None:
    """Print a value after its label; nothing for an empty value.

    A terminal gets a long value wrapped next to the label. Paths are not wrapped, so that they can
    be copied.
    """
    if not value:
        return
    head, text = Text(f"{label:<{_LABEL}}", label_style), Text(value, style)
    if not wrap or not console.is_terminal:
        console.print(Text.assemble(head, text), soft_wrap=True)
        return
    for line in text.wrap(console, max(console.width - head.cell_len, _NARROWEST)):
        line.rstrip()
        console.print(Text.assemble(head, line), soft_wrap=True)
        head = Text(" " * head.cell_len)


def print_table(
    console: Console, titles: Sequence[str], rows: Iterable[Sequence[str | Text]]
) -> None:
    """Print a table whose cells are folded to the width of the console."""
    table = Table(show_edge=False, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    if table.row_count:
        console.print(table)
