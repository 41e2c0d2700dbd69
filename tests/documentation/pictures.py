"""The pictures of the README, from a real run: the terminal and the report, light and dark."""

from __future__ import annotations

import fcntl
import inspect
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from bed import debian
from documentation.terminal import shown

COMMAND = ("export", "digits/checkpoint.pt", "--factory", "model:build", "--output", "logits")
COLUMNS = 92
WIDTH, HEIGHT = 1280, 860
"""Of the page, in pixels."""
THEMES: dict[str, TerminalTheme] = {"light": DEFAULT_TERMINAL_THEME, "dark": SVG_EXPORT_THEME}

_ROOT = Path(__file__).parents[2]
_FONT = re.compile(r"@font-face \{\{.*?\}\}", re.DOTALL)


def write_pictures(folder: Path) -> None:
    """Export the digits, and write what the terminal and the report show."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name).resolve()
        _prepare(directory / "digits")
        text = shortened(run_in_terminal(directory), str(directory))
        for theme in THEMES:
            (folder / f"terminal-{theme}.svg").write_text(terminal_svg(text, theme))
        page = directory / "report.html"
        report = (directory / "digits-onnx" / "report.html").read_text(encoding="utf-8")
        page.write_text(report.replace(f"{directory}/", ""), encoding="utf-8")
        _photograph(page, folder)


def _prepare(target: Path) -> None:
    example = _ROOT / "examples" / "digits"
    checkpoint = _ROOT / "build" / "digits" / "checkpoint.pt"
    if not checkpoint.exists():
        subprocess.run([sys.executable, example / "train.py"], check=True)
    target.mkdir()
    shutil.copy(checkpoint, target)
    shutil.copy(example / "model.py", target)


def run_in_terminal(directory: Path) -> str:
    """Run the command in a terminal; return what it shows at the end."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "modelexport_cli.main", *COMMAND],
        cwd=directory,
        stdin=end,
        stdout=end,
        stderr=end,
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
    )
    os.close(end)
    output = bytearray()
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the program has closed its end
            break
        if not part:
            break
        output += part
    os.close(terminal)
    if process.wait():
        raise SystemExit(output.decode(errors="replace"))
    return shown(output.decode(errors="replace"))


def shortened(text: str, directory: str) -> str:
    """Return the text with paths below a directory relative to it, and its columns as they were."""
    return "\n".join(_shortened(line, f"{directory}/") for line in text.split("\n"))


def _shortened(line: str, prefix: str) -> str:
    head, found, rest = line.rpartition(prefix)
    gap = re.search(r" {3,}", rest)
    if found and gap is not None:
        removed = " " * (len(prefix) * line.count(prefix))
        rest = rest[: gap.end()] + removed + rest[gap.end() :]
    return head.replace(prefix, "") + rest


def terminal_svg(text: str, theme: str) -> str:
    """Return a picture of a terminal after the command; it requests no font."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
    )
    console.print(Text.assemble(("$ ", "dim"), f"modelexport {' '.join(COMMAND)}"))
    console.print(Text.from_ansi(text))
    layout: str = inspect.signature(console.export_svg).parameters["code_format"].default
    return console.export_svg(
        title="",
        theme=THEMES[theme],
        code_format=_FONT.sub("", layout).replace("Fira Code", "ui-monospace, DejaVu Sans Mono"),
        unique_id=f"terminal-{theme}",
    )


def _photograph(page: Path, folder: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=debian.BROWSER["chromium"], args=["--no-sandbox"]
        )
        for scheme in THEMES:
            tab = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT},
                color_scheme="light" if scheme == "light" else "dark",
            )
            tab.goto(page.as_uri())
            tab.screenshot(path=folder / f"report-{scheme}.png")
        browser.close()
