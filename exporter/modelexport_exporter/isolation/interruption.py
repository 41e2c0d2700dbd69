"""Turns the first SIGTERM, SIGINT or SIGHUP into an ExportFailure in the main thread.

The kubelet gives a pod half a minute between SIGTERM and SIGKILL: enough to end the worker and to
remove staged files. Later signals are ignored, so that they do not interrupt this.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise ExportFailure(INTERRUPTED) in the body at the first signal. Main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, _raise) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def ignore_signals() -> None:
    """Ignore further signals during cleanup. Main thread only."""
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _raise(number: int, _frame: FrameType | None) -> None:
    ignore_signals()
    raise ExportFailure(
        Reason.INTERRUPTED,
        f"the export was stopped by {signal.Signals(number).name}",
        "Nothing was published. Run it again: finished work is recognised.",
    )
