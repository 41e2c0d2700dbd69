"""The declared shapes of outputs against those that runs returned: pure.

A runtime trusts a declared size: onnxruntime replaces a `Shape` node of an output by a constant
where the sizes are numbers, so a false one makes what a consumer appends wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from modelexport_exporter.verification.shapes.expressions import evaluate
from modelexport_exporter.verification.shapes.names import name_of
from modelexport_exporter.verification.shapes.observed import Observed

Declared = tuple[int | str, ...]
_MADE_UP = re.compile(r"\?|unk__\d+|.*_dim_\d+")
"""Names that converters give to sizes which they do not know."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A declared size, or number of dims, that a run did not return."""

    output: str
    axis: int | None
    """None: the number of dims."""
    declared: str
    obtained: str
    sizes: Mapping[str, int]

    def __str__(self) -> str:
        """Return `output y dim 0: declared 3, returned 5 at batch=5`."""
        dim = "" if self.axis is None else f" dim {self.axis}"
        returned = self.obtained_where
        return f"output {self.output}{dim}: declared {self.declared}, returned {returned}"

    @property
    def obtained_where(self) -> str:
        """Return `5 at batch=5`."""
        where = ", ".join(f"{name}={size}" for name, size in self.sizes.items())
        return f"{self.obtained} at {where}" if where else self.obtained


def contradictions(
    declared: Mapping[str, Declared], runs: Sequence[Observed]
) -> tuple[Contradiction, ...]:
    """Return the declared sizes that some run did not return, each once."""
    found: dict[tuple[str, int | None], Contradiction] = {}
    for run in runs:
        for entry in _in_run(declared, run):
            found.setdefault((entry.output, entry.axis), entry)
    return tuple(found.values())


def _in_run(declared: Mapping[str, Declared], run: Observed) -> Iterator[Contradiction]:
    names: dict[str, int] = {}
    for output, shape in declared.items():
        got = run.shapes.get(output)
        if got is None:
            continue
        if len(got) != len(shape):
            yield Contradiction(output, None, str(list(shape)), str(list(got)), run.sizes)
            continue
        for axis, (size, obtained) in enumerate(zip(shape, got, strict=True)):
            wanted = size if isinstance(size, int) else evaluate(size, run.sizes)
            if wanted is None and size != "?":
                wanted = names.setdefault(str(size), obtained)
            if wanted is not None and wanted != obtained:
                yield Contradiction(output, axis, str(size), str(obtained), run.sizes)


def true_shapes(
    stated: Sequence[Mapping[str, Declared]], runs: Sequence[Observed], dims: Sequence[str]
) -> dict[str, Declared | None]:
    """Return the shapes to declare; None for an output whose number of dims differs between runs.

    `stated`: shapes by output, as the file declares them, then as the runtime infers them.
    `dims`: the dims that vary; only those name a size.
    """
    false = [{(c.output, c.axis) for c in contradictions(shapes, runs)} for shapes in stated]
    seen = list(dict.fromkeys(name for run in runs for name in run.shapes))
    shapes: dict[str, Declared | None] = {}
    for output in seen:
        returned = [(run.sizes, run.shapes[output]) for run in runs if output in run.shapes]
        ranks = {len(shape) for _, shape in returned}
        if len(ranks) > 1:
            shapes[output] = None
            continue
        shape: list[int | str] = []
        for axis in range(ranks.pop()):
            claims = [
                source[output][axis]
                for source, wrong in zip(stated, false, strict=True)
                if output in source
                and not wrong & {(output, axis), (output, None)}
                and not _is_made_up(source[output][axis], dims)
            ]
            observed = [
                ({dim: sizes[dim] for dim in dims if dim in sizes}, found[axis])
                for sizes, found in returned
            ]
            shape.append(claims[0] if claims else name_of(observed) or f"{output}_dim_{axis}")
        shapes[output] = tuple(shape)
    return shapes


def _is_made_up(size: int | str, dims: Collection[str]) -> bool:
    return isinstance(size, str) and size not in dims and _MADE_UP.fullmatch(size) is not None
