"""Finds the line of the model that makes a size constant while torch.export captures it.

torch reports the dim, but the line only in its log. This listens to that log while the forward pass
runs: the log call comes from inside that line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from modelexport_exporter.core.foreign_messages import SIZE_GUARD
from modelexport_exporter.core.user_frame import UserLine, running_model_line

_LOGGER = "torch.fx.experimental.symbolic_shapes"


@contextmanager
def lines_that_fix_sizes(code_dir: Path | None) -> Iterator[list[UserLine]]:
    """Collect each line that makes a size constant, in order."""
    lines: list[UserLine] = []
    listener = _Listener(lines, code_dir)
    logger = logging.getLogger(_LOGGER)
    level, propagate = logger.level, logger.propagate
    handlers = logger.handlers[:]
    logger.handlers[:] = [listener]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagate


class _Listener(logging.Handler):
    def __init__(self, lines: list[UserLine], code_dir: Path | None) -> None:
        super().__init__(logging.INFO)
        self._lines = lines
        self._code_dir = code_dir

    def emit(self, record: logging.LogRecord) -> None:
        guard, equality = SIZE_GUARD
        if guard not in str(record.msg) or equality not in str(record.args):
            return
        line = running_model_line(self._code_dir)
        if line and line not in self._lines:
            self._lines.append(line)
