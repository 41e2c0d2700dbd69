"""Memory that forward allocates and does not write, seen when it runs on other contents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.call.call import Arguments
from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.core.user_frame import running_line
from modelexport_exporter.diagnosis.pitfalls.random_draws import Outputs
from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name

_ALLOCATES = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
_CONTENTS = (0, 0, 1)
"""What differs between the first two depends on something else."""
_MOST = 3


def find_uninitialised(
    run: Callable[[Arguments], Outputs],
    arguments: Arguments,
    agree: Callable[[Outputs, Outputs], bool],
    code_dir: Path | None,
) -> Iterator[Pitfall]:
    """Yield the lines that allocate memory whose contents the outputs of `run` depend on."""
    allocated: dict[str, str] = {}
    outputs = []
    for content in _CONTENTS:
        given = copy.deepcopy(arguments)
        with _Allocations(content, allocated, code_dir):
            outputs.append(run(given))
    first, again, other = outputs
    if not agree(first, again) or agree(first, other):
        return
    for source, operator in list(allocated.items())[:_MOST]:
        yield Pitfall(
            PitfallKind.NOT_DETERMINISTIC,
            f"forward returns memory that it allocates and does not write (torch.{operator}): "
            "its contents are of chance",
            source,
            "Allocate it with torch.zeros, or write all of it.",
        )


class _Allocations(AtenMode):
    """Fills what is allocated, and notes the user's lines by which it is."""

    def __init__(self, content: int, allocated: dict[str, str], code_dir: Path | None) -> None:
        super().__init__()
        self._content = content
        self._allocated = allocated
        self._code_dir = code_dir

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        result = func(*args, **kwargs)
        if op_name(func) in _ALLOCATES and isinstance(result, torch.Tensor):
            line = running_line(self._code_dir)
            self._allocated.setdefault(line.source if line else "", op_name(func))
            result.fill_(self._content)
        return result
