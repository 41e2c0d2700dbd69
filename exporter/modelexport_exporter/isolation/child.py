"""What runs inside a worker process before and after the function it was made for.

A worker answers with exactly one of a result, an `ExportFailure` or a crash; what user code prints
goes to a pipe of its own, so it can spoil neither the log nor `--output json`.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import multiprocessing
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.out_of_memory import is_out_of_memory
from modelexport_exporter.core.user_frame import text_of, user_frame

PROGRESS = "progress"
RESULT = "result"
FAILURE = "failure"
CRASH = "crash"

Report = Callable[[Stage, float, str], None]
Send = Callable[..., None]

_PR_SET_PDEATHSIG = 1
CREDENTIALS = "AWS_"
"""What the variables begin with that user code has no business with."""


def work(entry: str, arguments: tuple[Any, ...], channel: Connection, output: Connection) -> None:
    """Run `module:function(*arguments, report)` and send what became of it."""
    send = _settle_in(channel, output)
    _answer(send, lambda report: _resolve(entry)(*arguments, report))
    # No teardown of the interpreter: threads of user code could hang it, and all is said.
    _leave(0)


def serve(entry: str, channel: Connection, output: Connection) -> None:
    """Make a `module:Class()` and call its methods as they come, until nobody asks any more."""
    send = _settle_in(channel, output)
    made: list[Any] = []

    def called(method: str, arguments: tuple[Any, ...]) -> Callable[[Report], object]:
        def call(report: Report) -> object:
            if not made:
                made.append(_resolve(entry)())
            return getattr(made[0], method)(*arguments, report)

        return call

    while True:
        try:
            method, arguments = channel.recv()
        except (EOFError, OSError):
            _leave(0)
        _answer(send, called(method, arguments))


def _settle_in(channel: Connection, output: Connection) -> Send:
    """Make this process a worker; return what sends a message to the supervisor."""
    die_with_parent()
    if _nobody_listens(channel):
        # The supervisor ended before the kernel could be asked for that signal.
        os._exit(1)
    # A group of its own: Ctrl-C reaches only the supervisor, which ends the whole group.
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # User code that starts processes finds the start method that it knows; locks made here are
    # not left to the resource tracker, which would complain about them on stderr.
    multiprocessing.set_start_method("fork", force=True)
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    for name in [name for name in os.environ if name.startswith(CREDENTIALS)]:
        del os.environ[name]
    lock = threading.Lock()

    def send(*message: object) -> None:
        with lock:
            channel.send(message)

    return send


def _answer(send: Send, task: Callable[[Report], object]) -> None:
    """Do the task and send exactly one answer."""

    def report(stage: Stage, fraction: float, message: str) -> None:
        send(PROGRESS, stage, fraction, message)

    try:
        result = task(report)
        _flush()
        send(RESULT, result)
    except ExportFailure as failure:
        send(FAILURE, failure)
    except SystemExit as leaving:
        _leave(leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code)))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the supervisor tells it
        _send_crash(send, error)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _nobody_listens(channel: Connection) -> bool:
    poll = select.poll()
    poll.register(channel.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _resolve(entry: str) -> Callable[..., object]:
    module, _, name = entry.partition(":")
    function: Callable[..., object] = getattr(importlib.import_module(module), name)
    return function


def _send_crash(send: Callable[..., None], error: BaseException) -> None:
    text = printable("".join(traceback.format_exception(error)))
    typed = _typed(error)
    if typed is not None:
        send(FAILURE, typed)
    else:
        send(CRASH, f"{type(error).__name__}: {text_of(error)}", text)


def _typed(error: BaseException) -> ExportFailure | None:
    """Return the failure for errors that mean the same wherever they are raised."""
    text = text_of(error)
    if is_out_of_memory(error):
        return ExportFailure(
            Reason.OUT_OF_MEMORY,
            f"an allocation failed: {text}" if text else "an allocation failed",
            "Give the pod more memory (resources.limits.memory in spec.podTemplate).",
        )
    if not isinstance(error, Exception):
        # Factories are caught where they are called; what is left ran in forward.
        frame = user_frame(error, None)
        return ExportFailure(
            Reason.CAPTURE_FAILED,
            f"the model raised {type(error).__name__}: {text}" + (f" ({frame})" if frame else ""),
            "forward must not interrupt the process; raise an ordinary exception.",
        )
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        from modelexport_exporter.storage.errors import disk_full

        return disk_full(str(error.filename or "the workspace"))
    return None


def _leave(code: int) -> NoReturn:
    _flush()
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
