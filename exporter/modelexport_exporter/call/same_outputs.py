"""Whether forward returns the same outputs in each call: a file has as many for all inputs."""

from __future__ import annotations

from collections.abc import Sequence

from modelexport_api.reasons import Reason
from modelexport_exporter.call.output_names import Path, output_names
from modelexport_exporter.call.outputs import output_paths
from modelexport_exporter.core.errors import VaryingOutputs

_LISTED = 3


class SameOutputs:
    """The outputs of the first call, with which those of later calls are compared."""

    def __init__(self) -> None:
        self._first: tuple[list[Path], str] | None = None

    def check(self, returned: object, where: str) -> None:
        """Raise VaryingOutputs unless these are the outputs of the first call.

        `where`: describes the inputs of the call.
        """
        paths = output_paths(returned)
        if self._first is None:
            self._first = paths, where
        elif set(paths) != set(self._first[0]):
            raise varying_outputs(*self._first, paths, where)


def varying_outputs(
    first: Sequence[Path], first_at: str, others: Sequence[Path], others_at: str
) -> VaryingOutputs:
    """Return the failure of a model that returned these outputs at two inputs."""
    missing = [*_only_in(first, others, others_at), *_only_in(others, first, first_at)]
    return VaryingOutputs(
        Reason.CONTRACT_VIOLATED,
        f"forward returns {_counted(first)} at {first_at} and {_counted(others)} at {others_at} "
        f"({'; '.join(missing)}): which outputs there are depends on the inputs, and a file "
        "always returns the same ones",
        "Return the same tensors in each call: for one that there is not, a tensor of the same "
        "shape (zeros, NaN), and a flag as a further output.",
    )


def _only_in(one: Sequence[Path], other: Sequence[Path], other_at: str) -> list[str]:
    names = dict(zip(one, output_names(one), strict=True))
    lacking = [name for path, name in names.items() if path not in other]
    if not lacking:
        return []
    more = f" and {len(lacking) - _LISTED} more" if len(lacking) > _LISTED else ""
    return [f"without {', '.join(lacking[:_LISTED])}{more} at {other_at}"]


def _counted(paths: Sequence[Path]) -> str:
    return "1 output" if len(paths) == 1 else f"{len(paths)} outputs"
