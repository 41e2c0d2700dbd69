"""Which way the conditional jumps of the model's Python code went, seen while it runs."""

from __future__ import annotations

import dis
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

import torch

from modelexport_exporter.core.installed import package_directories, standard_directories

_TORCH = str(Path(torch.__file__).parent)
_OWN = str(Path(__file__).parents[2])
_PACKAGES = package_directories()
_STANDARD = standard_directories()
CONDITIONAL = ("POP_JUMP", "JUMP_IF", "FOR_ITER", "SEND")
RAISING = "RAISE_VARARGS"
_READING = frozenset({"LOAD_FAST", "LOAD_DEREF"})
_STAYING = frozenset(
    {"isinstance", "issubclass", "hasattr", "callable", "type", "dim", "ndim", "dtype", "device"}
    | {"is_floating_point", "requires_grad", "training"}
)


@dataclass(frozen=True)
class Jump:
    """A conditional jump: the instruction at `offset` of a function's code."""

    code: CodeType
    offset: int

    @property
    def line(self) -> int:
        """Return its line in the file."""
        span = _span(self.code, self.offset)
        return span[0][0] if span else self.code.co_firstlineno


@dataclass(frozen=True)
class Taken:
    """A jump that was taken, and the offset of the instruction that came next."""

    jump: Jump
    target: int


MOST_JUMPS = 20_000
"""Of one run."""


class RunTooLongError(Exception):
    """Ends a run that loops without end at values that no user gave it."""


@cache
def is_model_code(filename: str) -> bool:
    """Return whether a file is the model's: the user's, or a library's other than torch."""
    if filename.startswith(("<", _OWN, _TORCH)):
        return False
    return filename.startswith(_PACKAGES) or not filename.startswith(_STANDARD)


class WatchedJumps:
    """Records the conditional jumps of the model's code while it is active."""

    def __init__(self, *, limited: bool = False) -> None:
        """Watch runs; `limited` ones raise RunTooLongError after too many jumps."""
        self._limited = limited
        self.taken: list[Taken] = []
        """In the order of the run."""
        self._pending: dict[FrameType, Jump] = {}
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._on_call)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.settrace(self._before)
        self._pending.clear()

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ANN401
        if event != "call" or not is_model_code(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._on_instruction

    def _on_instruction(self, frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ANN401
        if event == "return":
            self._pending.pop(frame, None)
        if event == "opcode":
            jump = self._pending.pop(frame, None)
            if jump is not None and len(self.taken) < MOST_JUMPS:
                self.taken.append(Taken(jump, frame.f_lasti))
            elif jump is not None and self._limited:
                raise RunTooLongError
            if frame.f_lasti in _conditional_jumps(frame.f_code):
                self._pending[frame] = Jump(frame.f_code, frame.f_lasti)
        return self._on_instruction


def may_test(jump: Jump, code: CodeType, offset: int) -> bool:
    """Return whether what a jump tests contains an instruction, by their places in the text.

    A loop over a list ends by the list's length, whatever its elements are.
    """
    if jump.offset in _loops(jump.code):
        return False
    tested, inner = _span(jump.code, jump.offset), _span(code, offset)
    if code != jump.code or tested is None or inner is None:
        return False
    return _contains(tested, inner)


def may_vary(jump: Jump) -> bool:
    """Return whether a jump tests a variable, for more than what a call always has.

    Its type, its number of dims, its dtype, and whether an argument is given stay the same.
    """
    tested, names, computes = _span(jump.code, jump.offset), set[str](), False
    for instruction in dis.get_instructions(jump.code):
        inner = _span(jump.code, instruction.offset)
        if tested is None or inner is None or not _contains(tested, inner):
            continue
        names.add(instruction.argval if isinstance(instruction.argval, str) else "")
        computes |= instruction.opname in _READING and instruction.argval != "self"
    is_given = "NONE" in _opname(jump)
    return computes and not is_given and not names & _STAYING


def _opname(jump: Jump) -> str:
    return next(
        instruction.opname
        for instruction in dis.get_instructions(jump.code)
        if instruction.offset == jump.offset
    )


def raises_elsewhere(taken: Taken) -> bool:
    """Return whether the side that was not taken does nothing but raise."""
    instructions = list(dis.get_instructions(taken.jump.code))
    offsets = [instruction.offset for instruction in instructions]
    place = offsets.index(taken.jump.offset)
    sides = {offsets[place + 1] if place + 1 < len(offsets) else -1, instructions[place].argval}
    for other in sides - {taken.target}:
        for instruction in instructions[offsets.index(other) :] if other in offsets else ():
            if instruction.opname == RAISING:
                return True
            if "JUMP" in instruction.opname or "RETURN" in instruction.opname:
                break
    return False


def model_frame() -> FrameType | None:
    """Return the innermost frame of the model's code that is running; None outside of it."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - what inspect.currentframe wraps
    while frame is not None and not is_model_code(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_raised_by_model(error: BaseException) -> bool:
    """Return whether a `raise` or an `assert` of the model's code raised this exception."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not is_model_code(last.tb_frame.f_code.co_filename):
        return False
    return last.tb_lasti in _raises(last.tb_frame.f_code)


@cache
def _conditional_jumps(code: CodeType) -> frozenset[int]:
    return frozenset(
        instruction.offset
        for instruction in dis.get_instructions(code)
        if any(name in instruction.opname for name in CONDITIONAL)
    )


@cache
def _loops(code: CodeType) -> frozenset[int]:
    return frozenset(
        instruction.offset
        for instruction in dis.get_instructions(code)
        if instruction.opname == "FOR_ITER"
    )


@cache
def _raises(code: CodeType) -> frozenset[int]:
    return frozenset(
        instruction.offset
        for instruction in dis.get_instructions(code)
        if instruction.opname == RAISING
    )


Place = tuple[int, int]
"""A line and a column."""


def _contains(outer: tuple[Place, Place], inner: tuple[Place, Place]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


@cache
def _spans(code: CodeType) -> dict[int, tuple[Place, Place]]:
    """Return where the text of each instruction begins and ends."""
    found: dict[int, tuple[Place, Place]] = {}
    for instruction in dis.get_instructions(code):
        at = instruction.positions
        if at is not None and None not in (at.lineno, at.end_lineno, at.col_offset):
            begin, end = (
                (at.lineno or 0, at.col_offset or 0),
                (
                    at.end_lineno or 0,
                    at.end_col_offset or 0,
                ),
            )
            found[instruction.offset] = (begin, end)
    return found


def _span(code: CodeType, offset: int) -> tuple[Place, Place] | None:
    return _spans(code).get(offset)
