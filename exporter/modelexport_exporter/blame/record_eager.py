"""Records eager PyTorch op by op: inputs, outputs, module and source line of each ATen op.

Runs the original module once under a dispatch mode, without fused kernels where PyTorch has a
choice, so that there are more values to compare. Only the requested values are kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from torch.utils.weak import WeakIdKeyDictionary

from modelexport_exporter.blame.decompose import find_decomposition
from modelexport_exporter.blame.fingerprint import Array, fingerprint
from modelexport_exporter.blame.trace import Step, Trace
from modelexport_exporter.call.tensors import to_array
from modelexport_exporter.core.machine import busy_seconds
from modelexport_exporter.core.user_frame import is_users, shorten
from modelexport_exporter.torch_internals.aten_mode import AtenMode
from modelexport_exporter.torch_internals.one_dnn import without_one_dnn
from modelexport_exporter.torch_internals.operators import schema_of
from modelexport_exporter.torch_internals.pytree import tensors_in
from modelexport_exporter.torch_internals.tensors_and_buffers import is_view

MAX_STEPS = 20_000
_TORCH = str(Path(torch.__file__).parent)
_OWN = str(Path(__file__).parents[1])


class SearchBudgetExceeded(Exception):  # noqa: N818 - ends the search, no error
    """The run has too many steps, or the search took too long."""


def record_eager(
    module: torch.nn.Module,
    call: Callable[[], tuple[torch.Tensor, ...]],
    inputs: Collection[torch.Tensor],
    *,
    code_dir: Path | None,
    deadline: float,
    keep: Collection[int] = (),
) -> tuple[Trace, dict[int, Array]]:
    """Return the run of `call` as a trace, and the values in `keep` themselves.

    The same call gives the same numbers to its values.
    """
    recorder = _Recorder(module, code_dir, deadline, frozenset(keep))
    recorder.give(inputs)
    with torch.no_grad(), _unfused(), recorder.follow_modules(), recorder:
        outputs = call()
    recorder.trace.outputs = tuple(recorder.number_of(leaf) for leaf in outputs)
    return recorder.trace, recorder.kept


@contextmanager
def _unfused() -> Iterator[None]:
    """Let attention, recurrent layers and encoder layers run as several ops."""
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH), without_one_dnn():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)


class _Recorder(AtenMode):
    """Records every op that reaches a kernel."""

    def __init__(
        self,
        module: torch.nn.Module,
        code_dir: Path | None,
        deadline: float,
        keep: frozenset[int],
    ) -> None:
        super().__init__()
        self.trace = Trace()
        self.kept: dict[int, Array] = {}
        self._keep = keep
        self._deadline = deadline
        self._code_dir = code_dir
        self._paths = {id(child): path for path, child in module.named_modules()}
        self._stack: list[str] = []
        self._numbers: Any = WeakIdKeyDictionary()
        self._written: dict[int, int] = {}
        """The last value that an op wrote in place, by the storage's address."""
        self._next = 0
        self._inside: str | None = None
        """The op whose decomposition runs."""

    @contextmanager
    def follow_modules(self) -> Iterator[None]:
        """Follow which module's forward runs."""

        def enter(child: torch.nn.Module, _args: Any) -> None:  # noqa: ANN401
            self._stack.append(self._paths.get(id(child), self._path))

        def leave(*_: Any) -> None:  # noqa: ANN401
            if self._stack:
                self._stack.pop()

        with ExitStack() as stack:
            stack.callback(register_module_forward_pre_hook(enter).remove)
            stack.callback(register_module_forward_hook(leave, always_call=True).remove)
            yield

    @property
    def _path(self) -> str:
        return self._stack[-1] if self._stack else ""

    def give(self, inputs: Collection[torch.Tensor]) -> None:
        """Give numbers to the model's inputs."""
        for tensor in inputs:
            self.trace.given[self._number(tensor)] = fingerprint(to_array(tensor))

    def number_of(self, tensor: torch.Tensor) -> int:
        """Return a value's number; -1 for one that no op wrote."""
        known = self._read(tensor)
        return known[-1] if known else -1

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the op and record it."""
        self._check_budget()
        tensors = tensors_in((args, kwargs))
        read = [number for tensor in tensors for number in self._read(tensor)]
        if self._inside is None:
            read += self._decompose(func, args, kwargs)
        out = func(*args, **kwargs)
        outputs = tensors_in(out)
        mutates = schema_of(func).is_mutable
        written = tuple(self._write(tensor, in_place=mutates) for tensor in outputs)
        self._note(func, read, written)
        return out

    def _decompose(self, func: Any, args: Any, kwargs: Any) -> list[int]:  # noqa: ANN401
        """Run the op's decomposition; return its intermediate values.

        Exporters write many ops as several nodes, whose values are compared with these.
        """
        decomposition = find_decomposition(func)
        if decomposition is None:
            return []
        before, steps = self._next, len(self.trace.steps)
        self._inside = str(func)
        try:
            with self:
                decomposition(*args, **kwargs)
        except SearchBudgetExceeded:
            raise
        except Exception:  # noqa: BLE001 - some decompositions are for compilers only
            return []
        finally:
            self._inside = None
        found = [number for number in range(before, self._next) if number in self.trace.prints]
        if len(found) > 1:
            return found
        del self.trace.steps[steps:]  # the same op under another name
        for number in found:
            del self.trace.prints[number]
        return []

    def _note(self, func: Any, read: list[int], written: tuple[int, ...]) -> None:  # noqa: ANN401
        step = Step(
            op=self._inside or str(func),
            name=f"{func}#{len(self.trace.steps)}",
            inputs=tuple(dict.fromkeys(read)),
            outputs=written,
            module=self._path,
            source=_source(self._code_dir),
            inner=self._inside is not None,
        )
        self.trace.steps.append(step)

    def _check_budget(self) -> None:
        if len(self.trace.steps) >= MAX_STEPS:
            raise SearchBudgetExceeded(f"eager runs more than {MAX_STEPS} ops")
        if busy_seconds() > self._deadline:
            raise SearchBudgetExceeded("eager's ops could not be recorded in time")

    def _number(self, tensor: torch.Tensor) -> int:
        self._numbers[tensor] = number = self._next
        self._next += 1
        return number

    def _read(self, tensor: torch.Tensor) -> list[int]:
        """Return the values that a tensor holds: its own, and what was written into it later."""
        own: int | None = self._numbers.get(tensor)
        later = self._written.get(_address(tensor))
        if later is not None and (own is None or later > own):
            return [later] if own is None else [own, later]
        return [] if own is None else [own]

    def _write(self, tensor: torch.Tensor, *, in_place: bool) -> int:
        number = self._number(tensor)
        address = _address(tensor)
        if in_place:
            self._written[address] = number
        elif not is_view(tensor):  # memory that was freed may come again
            self._written.pop(address, None)
        try:
            array = to_array(tensor)
            self.trace.prints[number] = fingerprint(array)
        except (RuntimeError, TypeError, NotImplementedError):
            return number  # sparse, quantized or fake: not compared
        if number in self._keep:
            self.kept[number] = array.copy()
        return number


def _address(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return id(tensor)


def _source(code_dir: Path | None) -> str:
    """Return the innermost line of the user's code, or else of a library that is not torch."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001
    library = ""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith((_OWN, "<")):
            pass
        elif is_users(name, code_dir):
            return f"{shorten(name, code_dir)}:{frame.f_lineno}"
        elif not library and not name.startswith(_TORCH):
            library = f"{shorten(name, code_dir)}:{frame.f_lineno}"
        if frame.f_code is record_eager.__code__:
            break
        frame = frame.f_back
    return library
