"""Whether forward returns the same outputs in each call: a file has as many for all inputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from modelexport_api.reasons import Reason
from modelexport_exporter.call.output_names import Path, output_names
from modelexport_exporter.call.outputs import flatten, output_paths
from modelexport_exporter.core.errors import VaryingOutputs

_LISTED = 3


class SameOutputs:
    """The outputs of the first call, with which those of later calls are compared."""

    def __init__(self) -> None:
        self._first: tuple[list[Path], str] | None = None

    def check(self, returned: object, where: str) -> None:
        """Raise VaryingOutputs unless these are the outputs of the first call.

        Raises Incurable for what no file can return. `where`: describes the inputs of the call.
        """
        deque(flatten(returned), maxlen=0)
        paths = output_paths(returned)
        if self._first is None:
            self._first = paths, where
        elif set(paths) != set(self._first[0]):
            raise varying_outputs(*self._first, paths, where)


def varying_outputs(
    first: Sequence[Path], first_at: str, others: Sequence[Path], others_at: str
) -> VaryingOutputs:
    """Return the failure of a model that returned these outputs at two inputs."""
    return VaryingOutputs(
        Reason.CONTRACT_VIOLATED,
        f"forward returns {_described(first, others)} at {first_at} and "
        f"{_described(others, first)} at {others_at}: which outputs there are depends on the "
        "inputs, and a file always returns the same ones",
        "Return the same tensors in each call: for one that there is not, a tensor of the same "
        "shape (zeros, NaN), and a flag as a further output.",
    )


def _described(own: Sequence[Path], others: Sequence[Path]) -> str:
    """Return `1 output (without centre)`."""
    counted = "1 output" if len(own) == 1 else f"{len(own)} outputs"
    names = zip(others, output_names(others), strict=True)
    lacking = [name for path, name in names if path not in own]
    more = f" and {len(lacking) - _LISTED} more" if len(lacking) > _LISTED else ""
    return f"{counted} (without {', '.join(lacking[:_LISTED])}{more})" if lacking else counted
