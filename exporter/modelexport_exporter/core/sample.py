"""What a sample is before its elements are drawn: sizes, a kind of values, a seed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Values(StrEnum):
    """What the elements of a sample are drawn from. Reports show the member's value."""

    NORMAL = "normal"
    """Standard normal floats, or uniform ones inside `range`; uniform integers with both ends."""
    LARGE = "large"
    """Normal floats of a larger scale; with a `range`, its two ends mixed."""
    ZEROS = "zeros"
    """All zero, or the number in `range` that is nearest to zero."""
    HIGHEST = "highest"
    """All at the upper end of `range`; 1 for floats without one."""
    LOWEST = "lowest"
    """All at the lower end of `range`; -1 for floats without one."""
    POSITIVE = "positive"
    """Magnitudes of normal floats; with a `range`, its upper half."""
    NEGATIVE = "negative"
    """Negated magnitudes of normal floats; with a `range`, its lower half."""
    SMALL = "small"
    """Normal floats of a small scale; with a `range`, examples of several small scales."""
    SMALL_INTEGERS = "strewn"
    """Normal floats, half of them replaced by -1, 1, or a zero of either sign: zeros next to values
    of both signs, and ties."""
    REPEATED = "repeated"
    """Two values that recur: equal indices, equal scores; in every other row by turns."""
    ORDERED = "ordered"
    """As NORMAL, sorted along the last dim: ascending and descending rows by turns, the first one
    by the seed."""
    ONE_HOT = "one-hot"
    """Zeros, as ZEROS, and in each row of the last dim one number as in HIGHEST; in every other row
    the reverse."""
    STEPS = "stepped"
    """Small integers and halves: equal inputs, sums that are integers, one input three times
    another."""
    FAR = "far"
    """Normal floats, half of them replaced by ones up to 1e4 and down to 1e-7, or whole rows of one
    such scale, of floats without a range; compared only if the model returns finite numbers."""
    SCALED = "scaled"
    """Normal floats, many replaced by ones of the scales that large numbers of the model name, of
    floats without a range; compared as FAR is."""
    ALIKE = "alike"
    """All inputs of one dtype are equal, nearly so, or of opposite sign."""
    COPIES = "copies"
    """Rows, channels and columns that are equal to others: two equal rows, a grey image."""
    OFFSET = "offset"
    """Numbers that are close to each other, and far from zero: in a variance they cancel."""
    DRIFTING = "drifting"
    """Rows that move on by equal steps, within their range: boxes that overlap their neighbours
    only, series, falling scores; integers that stay, by the seed."""
    SPARSE = "sparse"
    """Zeros, as ZEROS, and a few elements as NORMAL in each example: few pieces on a board, few
    clicks in a silence."""
    EACH = "each"
    """Every integer of a range, one after the other over several samples; floats as NORMAL."""
    LOOKUPS = "lookup"
    """Numbers that look up rows of tables which differ from the model's, or are the file's own
    (`Lookups`); the rest as NORMAL."""
    CONSTANT = "constant"
    """All equal to one number that is neither zero nor an end of the range."""
    MAGNITUDES = "magnitudes"
    """Numbers of all magnitudes; integers near the ends of their range: rare ids."""
    LIMITS = "limits"
    """Integers near 2^24, 2^31, 2^53 and the ends of the range; floats as NORMAL."""
    INJECTED = "aimed"
    """Normal floats, half of them replaced by constants of the ONNX file; integers that it names
    (`InjectedValues`)."""
    NAMED = "named"
    """Numbers of the model only, at random in each element: rules that need several of them."""
    WITH_NAN = "NaN"
    """Normal floats with NaN injected where no `range` excludes it: single ones, runs, whole rows;
    compared only if the model tests for NaN or infinity, or returns finite numbers all the same."""
    WITH_INFINITY = "infinity"
    """The same with infinities of both signs."""
    GOLDEN = "golden"
    """Recorded by the user; the seed is the sample's position in the file."""
    SOUGHT = "sought"
    """Found by search: another side of a branch, an output that has elements."""
    SAMPLER = "sampler"
    """Drawn by the user's sampler."""


DEGENERATE = frozenset(
    {
        *(Values.ZEROS, Values.HIGHEST, Values.LOWEST),
        *(Values.CONSTANT, Values.SMALL, Values.OFFSET),
    }
)
"""Constant or tiny inputs: what is centred vanishes, and x - tanh(x) is rounding error only."""
NOT_FINITE = frozenset({Values.WITH_NAN, Values.WITH_INFINITY})
"""Inputs that most models do not expect."""
FAR_NUMBERS = frozenset({Values.FAR, Values.SCALED})
"""Inputs that are far larger than a network is trained on."""
ORDINARY = frozenset({Values.NORMAL, Values.GOLDEN, Values.SAMPLER})
"""Inputs as in production: the model's noise is measured on them, and most must be conclusive."""


@dataclass(frozen=True)
class Sample:
    """One set of inputs, before its elements are drawn."""

    dims: dict[str, int]
    values: Values
    seed: int

    @property
    def label(self) -> str:
        """Return the name of the values in messages and reports: `normal`, `golden 3`."""
        return label(self.values, self.seed)


def label(values: Values, seed: int, *, reordered: bool = False) -> str:
    """Return `normal`, `golden 3`, or `golden 3, equal values in ONNX's order`."""
    name = f"{values.value} {seed}" if values is Values.GOLDEN else values.value
    return f"{name}, equal values in ONNX's order" if reordered else name
