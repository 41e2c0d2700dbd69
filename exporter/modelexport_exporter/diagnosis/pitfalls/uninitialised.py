"""Memory that forward allocates and does not write, seen when it runs on other contents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.call.call import Arguments
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.diagnosis.pitfalls.noted_ops import NotedOps
from modelexport_exporter.diagnosis.pitfalls.random_draws import Outputs
from modelexport_exporter.torch_internals.aten_mode import op_name

_ALLOCATES = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})


def find_uninitialised(
    run: Callable[[Arguments], Outputs],
    arguments: Arguments,
    agree: Callable[[Outputs, Outputs], bool],
    code_dir: Path | None,
) -> Iterator[Pitfall]:
    """Yield the lines that allocate memory whose contents the outputs of `run` depend on."""

    def filled(content: int) -> tuple[Outputs, _Allocations]:
        given = copy.deepcopy(arguments)
        with _Allocations(content, code_dir) as allocations:
            return run(given), allocations

    (first, allocations), (again, _), (other, _) = filled(0), filled(0), filled(1)
    # What differs between the first two depends on something else.
    if agree(first, again) and not agree(first, other):
        yield from allocations.pitfalls(
            "forward returns memory that it allocates and does not write (torch.{}): "
            "its contents are of chance",
            "Allocate it with torch.zeros, or write all of it.",
        )


class _Allocations(NotedOps):
    """Fills what is allocated, and notes the lines."""

    def __init__(self, content: int, code_dir: Path | None) -> None:
        super().__init__(code_dir)
        self._content = content

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        result = func(*args, **kwargs)
        if op_name(func) in _ALLOCATES and isinstance(result, torch.Tensor):
            self.note(func)
            result.fill_(self._content)
        return result
