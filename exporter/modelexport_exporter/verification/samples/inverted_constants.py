"""Inputs at which a file decides: numbers that nodes decide at, traced to the inputs.

`(t // 60) % 1440 >= 1320` decides at t = 79,200 and a day later, and `celsius * 1.8 + 32 > 100` at
37.8. No random number is there, and no constant of the file. Each operator between an input and a
comparison is undone, as far as it has an inverse; an operator of two values is taken for one of
them, the other being 0 or 1.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx

from modelexport_exporter.verification.samples.thresholds import GraphValues

Number: TypeAlias = int | float
Inverse = Callable[[Number, Number], Iterable[Number]]
"""Returns what a result was before a constant was applied."""

MOST = 256
"""Numbers of an input."""
DEPTH = 24
STEPS = 20_000
"""Nodes that are undone for a file: the first 24 before each decision, those close to it first."""
LARGEST = 1e30
"""Larger numbers stand for infinity, as in rankings of NaN."""
"""Integers have no end in Python."""
PASSING = frozenset(
    {
        "Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Slice", "Gather", "GatherND",
        "GatherElements", "Transpose", "Expand", "Flatten", "Split", "Floor", "Ceil", "Round",
        "Relu", "Clip", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "Tile",
    }
)  # fmt: skip
"""Of these the first input is followed, its numbers being those of the result."""
JOINING = frozenset({"Concat", "Max", "Min", "Where", "Add", "Mul"})
"""All inputs are followed, where none is a constant."""
MOVING = frozenset(
    {
        "Reshape", "Squeeze", "Unsqueeze", "GatherND", "GatherElements", "Transpose", "Flatten",
        "Split", "Concat", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "Tile",
    }
)  # fmt: skip
"""Before these, a column is another one."""
DENOMINATORS = (1, 2, 4, 100)
"""What one value is divided by, where neither is a constant."""
LARGEST_INDEX = 2**30
BASES = (0, 1, 1_000_000_000, 1_700_000_000, 1_700_000_000_000)
"""Where a remainder is looked for, besides the declared ranges: time counts from 1970."""


Column: TypeAlias = int | None
"""An index in the last dim of an input; None for any."""
Place: TypeAlias = tuple[int, int] | None
"""An axis, and the index that was taken from it."""
Found: TypeAlias = dict[str, dict[Column, tuple[Number, ...]]]


def inverted_constants(graph: onnx.GraphProto, bases: Iterable[float] = ()) -> Found:
    """Return numbers of each input, and of its columns, at which a comparison decides.

    `bases`: numbers near which a remainder is looked for.
    """
    near = [int(base) for base in (*BASES, *bases) if math.isfinite(base)]
    values = GraphValues.of(graph)
    tracing = _Tracing(graph, values, tuple(dict.fromkeys(near)))
    for name, targets in values.decisions():
        tracing.start(name, [one for target in targets for one in target.reshape(-1).tolist()])
    found: Found = defaultdict(dict)
    for (name, column), numbers in tracing.found.items():
        found[name][column] = tuple(number for number in numbers if abs(number) <= LARGEST)[:MOST]
    return dict(found)


@dataclass
class _Tracing:
    graph: onnx.GraphProto
    values: GraphValues
    bases: tuple[int, ...]
    found: dict[tuple[str, Column], dict[Number, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    steps: int = 0
    _seen: dict[tuple[str, Place], dict[Number, int]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """At each value: the numbers that were followed, and how many nodes farther."""

    def __post_init__(self) -> None:
        self._ranks = {
            entry.name: len(entry.type.tensor_type.shape.dim) for entry in self.graph.input
        }
        self._producers = self.values.producers
        self._constants: dict[str, Sequence[Number]] = {
            name: array.reshape(-1).tolist() for name, array in self.values.constants.items()
        }

    def start(self, value: str, numbers: Sequence[Number]) -> None:
        """Follow a value on which a node decides at these numbers."""
        waiting: deque[tuple[str, Sequence[Number], Place, int]] = deque(
            [(value, numbers, None, DEPTH)]
        )
        while waiting and self.steps < STEPS:
            value, numbers, place, depth = waiting.popleft()
            for before, before_numbers, before_place in self._follow(value, numbers, place, depth):
                waiting.append((before, before_numbers, before_place, depth - 1))

    def _follow(
        self, value: str, numbers: Sequence[Number], place: Place, depth: int
    ) -> Iterator[tuple[str, Sequence[Number], Place]]:
        """Yield what comes before a value, at the numbers that were not yet followed so far."""
        seen = self._seen[value, place]
        numbers = [
            n for n in dict.fromkeys(numbers) if abs(n) <= LARGEST and seen.get(n, -1) < depth
        ][:MOST]
        if not numbers:
            return
        seen.update(dict.fromkeys(numbers, depth))
        if value in self._ranks:
            column = _column(place, self._ranks[value])
            self.found[value, column] |= dict.fromkeys(numbers)
            return
        node = self._producers.get(value)
        if node is None or not depth:
            return
        self.steps += 1
        place = self._place(node, place)
        for before, before_numbers in self._undone(node, numbers):
            yield before, before_numbers, place

    def _place(self, node: onnx.NodeProto, place: Place) -> Place:
        """Return what the node takes of an axis, or what was taken after it."""
        if node.op_type in MOVING:
            return None
        if node.op_type not in {"Gather", "Slice"}:
            return place
        given = [self._constants.get(name) for name in node.input[1:]]
        if any(numbers is None or len(numbers) != 1 for numbers in given) or not given:
            return None
        numbers = [int(numbers[0]) for numbers in given if numbers]
        if node.op_type == "Gather":
            return next((a.i for a in node.attribute if a.name == "axis"), 0), numbers[0]
        whole = numbers[0] == 0 and len(numbers) > 1 and numbers[1] > LARGEST_INDEX
        if whole or len(numbers) < 3 or numbers[1] - numbers[0] != 1:  # noqa: PLR2004
            return place
        return numbers[2], numbers[0]

    def _undone(
        self, node: onnx.NodeProto, numbers: Sequence[Number]
    ) -> Iterator[tuple[str, Sequence[Number]]]:
        """Yield the inputs of a node, and the numbers that give the result one of these."""
        constants = [self._constants.get(name) for name in node.input]
        if node.op_type in PASSING:
            yield node.input[0], numbers
        elif node.op_type in OF_ONE:
            yield node.input[0], [*_all(OF_ONE[node.op_type], numbers)]
        elif len(node.input) == 2 and (constants[0] is None) != (constants[1] is None):  # noqa: PLR2004
            yield from self._without_constant(node, numbers, constants)
        elif node.op_type == "Mul" and node.input[0] == node.input[1]:
            yield node.input[0], [*_all(lambda n: (math.sqrt(n), -math.sqrt(n)), numbers)]
        elif node.op_type in JOINING:
            for name, constant in zip(node.input, constants, strict=True):
                if constant is None:
                    yield name, [*numbers, 1] if node.op_type == "Mul" else numbers
        elif node.op_type == "Sub":
            yield node.input[0], numbers
            yield node.input[1], [-number for number in numbers]
        elif node.op_type == "Div":
            yield node.input[0], [number * by for number in numbers for by in DENOMINATORS]
            yield node.input[1], DENOMINATORS

    def _without_constant(
        self,
        node: onnx.NodeProto,
        numbers: Sequence[Number],
        constants: Sequence[Sequence[Number] | None],
    ) -> Iterator[tuple[str, Sequence[Number]]]:
        place = 0 if constants[0] is None else 1
        inverse: Inverse | None = OF_TWO.get((node.op_type, place))
        if node.op_type == "Mod" and place == 0:
            inverse = self._undo_remainder
        if node.op_type == "BitShift" and place == 0:
            left = any(a.name == "direction" and a.s == b"LEFT" for a in node.attribute)
            inverse = _unshifted_left if left else _unshifted_right
        if inverse is not None:
            known = constants[1 - place] or ()
            yield (
                node.input[place],
                [
                    one
                    for n in numbers
                    for constant in known
                    for one in _tried(inverse, n, constant)
                ],
            )

    def _undo_remainder(self, number: Number, divisor: Number) -> Iterator[Number]:
        """Yield numbers near each base that have the remainder."""
        for base in self.bases:
            yield number + divisor * math.floor(base / divisor)


def _column(place: Place, rank: int) -> Column:
    """Return the index in the last dim of an input of that rank."""
    if place is None or rank < 2 or place[0] not in {-1, rank - 1}:  # noqa: PLR2004
        return None
    return place[1]


def _all(
    inverse: Callable[[Number], Iterable[Number]], numbers: Iterable[Number]
) -> Iterator[Number]:
    for number in numbers:
        yield from _tried(lambda one, _: inverse(one), number, 0)


def _tried(inverse: Inverse, number: Number, constant: Number) -> list[Number]:
    """Return the inverse's numbers; none where it has no value."""
    try:
        return list(inverse(number, constant))
    except (ArithmeticError, ValueError, TypeError):
        return []


def _quotient(number: Number, constant: Number) -> Iterator[Number]:
    """Yield what gives the number if it is multiplied by the constant."""
    if isinstance(number, int) and isinstance(constant, int):
        if not number % constant:
            yield number // constant
    else:
        yield number / constant


def _dividend(number: Number, constant: Number) -> Iterator[Number]:
    """Yield what gives the number if it is divided by the constant: the first and the last."""
    yield number * constant
    if isinstance(number, int) and isinstance(constant, int):
        yield number * constant + abs(constant) - 1


def _unshifted_left(number: Number, by: Number) -> Iterator[Number]:
    yield int(number) >> int(by)


def _unshifted_right(number: Number, by: Number) -> Iterator[Number]:
    if not 0 <= by < 64:  # noqa: PLR2004
        return
    yield int(number) << int(by)
    yield ((int(number) + 1) << int(by)) - 1


def _root(number: Number, constant: Number) -> Iterator[Number]:
    if number >= 0:  # the root of a negative number is complex
        root = float(number) ** (1 / constant)
        yield root
        yield -root


OF_ONE: Mapping[str, Callable[[Number], Iterable[Number]]] = {
    "Neg": lambda n: (-n,),
    "Abs": lambda n: (n, -n),
    "Sqrt": lambda n: (n * n,),
    "Reciprocal": lambda n: (1 / n,),
    "Exp": lambda n: (math.log(n),),
    "Log": lambda n: (math.exp(n),),
    "Sigmoid": lambda n: (math.log(n / (1 - n)),),
    "Tanh": lambda n: (math.atanh(n),),
    "Softplus": lambda n: (math.log(math.expm1(n)),),
}
OF_TWO: Mapping[tuple[str, int], Inverse] = {
    ("Add", 0): lambda n, k: (n - k,),
    ("Add", 1): lambda n, k: (n - k,),
    ("Sub", 0): lambda n, k: (n + k,),
    ("Sub", 1): lambda n, k: (k - n,),
    ("Mul", 0): _quotient,
    ("Mul", 1): _quotient,
    ("Div", 0): _dividend,
    ("Div", 1): lambda n, k: (k / n,),
    ("Pow", 0): _root,
    ("BitwiseAnd", 0): lambda n, _: (n,),
    ("BitwiseAnd", 1): lambda n, _: (n,),
    ("BitwiseOr", 0): lambda n, _: (n,),
    ("BitwiseOr", 1): lambda n, _: (n,),
}
"""By the operator and the place of the value that is no constant."""
