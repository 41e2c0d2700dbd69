"""The worker process's side: runs a function and sends its answer to the supervisor.

A worker answers with exactly one of a result, an `ExportFailure` or a crash, as a JSON document.
Output of user code goes to a pipe of its own, so that it cannot corrupt the log or `--output json`.
"""

from __future__ import annotations

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
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core import place
from modelexport_exporter.core.environment import names_of_secrets
from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.out_of_memory import is_out_of_memory
from modelexport_exporter.core.user_frame import text_of, user_line
from modelexport_exporter.isolation import messages
from modelexport_exporter.isolation.prctl import die_with_parent
from modelexport_exporter.isolation.sandbox.enter import enter
from modelexport_exporter.isolation.sandbox.policy import Sandbox
from modelexport_exporter.isolation.shared_libraries import print_again

Report = Callable[[Stage, float, str], None]
Send = Callable[[bytes], None]


def work(  # noqa: PLR0917 - multiprocessing passes arguments in order
    entry: str,
    arguments: tuple[Any, ...],
    expected: Any,  # noqa: ANN401
    sandbox: Sandbox | None,
    channel: Connection,
    output: Connection,
) -> None:
    """Run `module:function(*arguments, report)` and send its result or failure.

    `expected`: the type of the result.
    """
    send = _prepare_process(channel, output)
    _send_answer(send, lambda report: _resolve(entry, sandbox)(*arguments, report), expected)
    # No teardown of the interpreter: threads of user code could hang it.
    _leave(0)


def serve(
    entry: str,
    channels: tuple[Connection, ...],
    sandbox: Sandbox | None,
    channel: Connection,
    output: Connection,
) -> None:
    """Call methods of one object on request, until the supervisor closes the channel.

    The object is `module:Class(*channels)`; `channels`: to other workers.
    """
    send = _prepare_process(channel, output)
    resident, failed = _make_resident(entry, sandbox, channels)

    def called(method: str, arguments: tuple[Any, ...]) -> Callable[[Report], object]:
        def call(report: Report) -> object:
            if failed is not None:
                raise failed
            return getattr(resident, method)(*arguments, report)

        return call

    while True:
        try:
            method, arguments, expected = channel.recv()
        except (EOFError, OSError):
            _leave(0)
        _send_answer(send, called(method, arguments), expected)


def _make_resident(
    entry: str, sandbox: Sandbox | None, channels: tuple[Connection, ...]
) -> tuple[object, Exception | None]:
    """Return the object, whose imports take a while, or what is to be raised when it is called."""
    try:
        return _resolve(entry, sandbox)(*channels), None
    except Exception as error:  # noqa: BLE001 - nothing listens before the first call
        return None, error


def _prepare_process(channel: Connection, output: Connection) -> Send:
    """Prepare this process as a worker; return a function that sends to the supervisor."""
    die_with_parent()
    if _supervisor_ended(channel):
        # The supervisor ended before that signal was set up.
        os._exit(1)
    # A group of its own: Ctrl-C reaches only the supervisor, which ends the whole group.
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # User code that starts processes gets Linux's usual start method, and the resource tracker
    # does not warn about locks created here.
    multiprocessing.set_start_method("fork", force=True)
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    print_again()
    _leave_the_servers()
    for name in names_of_secrets():
        del os.environ[name]
    lock = threading.Lock()

    def send(line: bytes) -> None:
        rest = memoryview(line)
        with lock:
            while rest:
                rest = rest[os.write(channel.fileno(), rest) :]

    return send


def _leave_the_servers() -> None:
    """Give up the pipes to the resource tracker and the fork server, which are in no sandbox.

    They log what they do not understand, without limit, and the fork server ends. Code that needs
    such servers starts its own.
    """
    tracker = vars(vars(resource_tracker)["_resource_tracker"])
    server = vars(vars(forkserver)["_forkserver"])
    for held, name in ((tracker, "_fd"), (server, "_forkserver_alive_fd")):
        if held[name] is not None:
            os.close(held[name])
            held[name] = None


def _send_answer(send: Send, task: Callable[[Report], object], expected: Any) -> None:  # noqa: ANN401
    """Do the task and send exactly one answer."""

    def report(stage: Stage, fraction: float, message: str) -> None:
        send(messages.encode_progress(stage, fraction, message))

    try:
        result = task(report)
        _flush()
        send(messages.encode_result(result, expected))
    except ExportFailure as failure:
        send(messages.encode_failure(failure))
    except SystemExit as leaving:
        _leave(leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code)))
    except BaseException as error:  # noqa: BLE001 - the supervisor reports it
        _send_crash(send, error)


def _supervisor_ended(channel: Connection) -> bool:
    poll = select.poll()
    poll.register(channel.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _resolve(entry: str, sandbox: Sandbox | None) -> Callable[..., object]:
    """Enter the sandbox, and return what the entry names. User code is reached through it only."""
    if sandbox is not None:
        enter(sandbox)
    module, _, name = entry.partition(":")
    function: Callable[..., object] = getattr(importlib.import_module(module), name)
    return function


def _send_crash(send: Send, error: BaseException) -> None:
    text = printable("".join(traceback.format_exception(error)))
    typed = _classify(error)
    if typed is not None:
        send(messages.encode_failure(typed))
    else:
        send(messages.encode_crash(f"{type(error).__name__}: {text_of(error)}", text))


def _classify(error: BaseException) -> ExportFailure | None:
    """Return the failure for errors that mean the same wherever they are raised."""
    text = text_of(error)
    if is_out_of_memory(error):
        return ExportFailure(
            Reason.OUT_OF_MEMORY,
            f"an allocation failed: {text}" if text else "an allocation failed",
            place.more_memory(),
        )
    if not isinstance(error, Exception):
        # Factories handle it where they are called, so this was raised in forward.
        frame = user_line(error, None)
        return ExportFailure(
            Reason.CAPTURE_FAILED,
            f"the model raised {type(error).__name__}: {text}" + (f" ({frame})" if frame else ""),
            "forward must not interrupt the process; raise an ordinary exception.",
            sources=(frame.source,) if frame else (),
        )
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
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
