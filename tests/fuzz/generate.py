"""From a seed to a model: inputs, lines drawn from the templates, and what it returns."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from fuzz import templates
from fuzz.case import FuzzCase, sizes_of
from fuzz.feeds import draw
from fuzz.program import Program
from fuzz.writer import write

FLOATS = (torch.float32, torch.float64, torch.float16)
INTEGERS = (torch.int64, torch.int32, torch.uint8)
_KINDS = {"f": FLOATS, "g": (torch.float32,), "i": INTEGERS, "b": (torch.bool,), "t": ()}
_SHAPES = (("n", 4), ("n",), ("n", "m"), (3, "n"), ("n", "m", 4), ("m", 4), ("m",), ("n", 1), (4,))
_DTYPES = {
    "float32": 55,
    "float64": 12,
    "float16": 5,
    "int64": 16,
    "int32": 5,
    "bool": 5,
    "uint8": 4,
}
_DIMS = ((1, 12), (1, 40), (2, 30), (1, 120), (4, 64), (2, 9), (3, 20))
_RANGES = {
    "float": ((0, 1), (-1, 1), (0, 255), (-1000, 1000), (0, 100_000)),
    "int64": ((0, 9), (0, 63), (-100, 100), (0, 2**40), (-(2**31), 2**31 - 1), (0, 1_000_000)),
    "int32": ((0, 9), (-100, 100), (0, 2**31 - 1), (0, 30_000)),
    "uint8": ((0, 255),),
}
_LITERALS = (0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0, 1.1, 2.0, 2.5, 3.3, 10.0, 100.0, 1e-3, 400.0)
_INTEGERS = (0, 1, 2, 3, 5, 7, 8, 10, 42, 101, 103, 255, 777, 1000, 65_537, 2**24 + 1, 2**31 + 1)
_GROUPS = {
    "POINTWISE": 30,
    "INTEGERS": 18,
    "BOOLEANS": 10,
    "REDUCTIONS": 14,
    "STRUCTURE": 20,
    "SIZES": 8,
    "layer": 5,
    "lookup": 4,
    "size_branch": 5,
    "value_branch": 1,
}
_HOLE = re.compile(r"\{([a-z]+)(\d*)\}")
_CHOICE = re.compile(r"«([^»]*)»")


class Unfilled(Exception):  # noqa: N818 - an answer, not a defect
    """The program has nothing that the template asks for."""


class Generator:
    """Draws one model."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.dims, self.inputs = self._declare()
        self.program = Program.begin(self._probes())
        self.counter = 0

    def case(self) -> FuzzCase | None:
        """Return the model; None if no line ran, or eager fails at a size that is declared."""
        wanted = self.random.randint(3, 16)
        for _ in range(wanted * 12):
            self.grow()
            if len(self.program.statements) >= wanted:
                break
        case = write(self.seed, self.program, self.inputs, self.dims, self._outputs())
        return case if case is not None and runs(case) else None

    def grow(self) -> None:
        """Add a line, if the one that was drawn runs."""
        groups = list(_GROUPS)
        (group,) = self.random.choices(groups, [_GROUPS[name] for name in groups])
        try:
            if group == "layer":
                self._layer()
            elif group == "lookup":
                self._lookup()
            elif group == "size_branch":
                self._branch(self._filled(self.random.choice(templates.SIZE_TESTS)))
            elif group == "value_branch":
                self._branch(self._filled(self.random.choice(templates.VALUE_TESTS)))
            else:
                text, reads = self._filled(self.random.choice(getattr(templates, group)))
                name = self._name("s" if group == "SIZES" else "v")
                self.program.try_line(name, f"{name} = {text}", reads)
        except Unfilled:
            return

    def _declare(self) -> tuple[dict[str, tuple[int, int]], list[dict[str, Any]]]:
        drawn = self.random.choices(
            list(_DTYPES), list(_DTYPES.values()), k=self.random.randint(1, 3)
        )
        inputs = [self._input(f"x{place}", dtype) for place, dtype in enumerate(drawn)]
        used = {size for entry in inputs for size in entry["shape"] if isinstance(size, str)}
        return {name: self.random.choice(_DIMS) for name in sorted(used)}, inputs

    def _input(self, name: str, dtype: str) -> dict[str, Any]:
        shape = self.random.choice(_SHAPES)
        entry: dict[str, Any] = {"name": name, "dtype": dtype, "shape": list(shape)}
        ranges = _RANGES["float" if dtype.startswith("float") else dtype] if dtype != "bool" else ()
        declared = 0.4 if dtype.startswith("float") else 0.85
        if ranges and dtype != "float16" and self.random.random() < declared:
            entry["range"] = list(self.random.choice(ranges))
        return entry

    def _probes(self) -> list[dict[str, torch.Tensor]]:
        ends = [{name: bounds[end] for name, bounds in self.dims.items()} for end in (0, 1)]
        middle = {
            name: min(high, low + 3 + 2 * place)
            for place, (name, (low, high)) in enumerate(self.dims.items())
        }
        sizes = [middle, *ends, *sizes_of(self.dims, self.seed)[:2]]
        return [draw(self.inputs, own, self.seed + place) for place, own in enumerate(sizes)]

    def _name(self, letter: str) -> str:
        self.counter += 1
        return f"{letter}{self.counter}"

    def _filled(self, template: str) -> tuple[str, frozenset[str]]:
        """Return a template's text with holes filled, and the names that it reads."""
        chosen = _CHOICE.sub(lambda match: self.random.choice(match[1].split("|")), template)
        names: dict[str, str] = {}
        reads: set[str] = set()

        def fill(match: re.Match[str]) -> str:
            key = match[1] + (match[2] or f"_{match.start()}")
            if key not in names:
                names[key] = self._hole(match[1], reads)
            return names[key]

        return _HOLE.sub(fill, chosen), frozenset(reads)

    def _hole(self, kind: str, reads: set[str]) -> str:
        if kind in _KINDS:
            return self._pick(self.program.tensors(*_KINDS[kind]), reads)
        if kind == "s":
            return self._size(reads)
        draws = {
            "c": lambda: repr(self.random.choice((1, 1, -1)) * self.random.choice(_LITERALS)),
            "k": lambda: str(self.random.randint(1, 9)),
            "z": lambda: str(self.random.choice(_INTEGERS)),
            "p": lambda: repr(self.random.choice((0.1, 0.29, 0.3, 0.5, 0.58, 0.6, 0.7, 0.9))),
            "q": lambda: repr(self.random.choice((0.5, 1.5, 2.0, 2.7, 1.1, 0.7, 3.0, 1.3))),
            "d": lambda: str(self.random.choice((-1, 0, -1, 1))),
        }
        return draws[kind]()

    def _pick(self, names: Sequence[str], reads: set[str]) -> str:
        """Return one of the names; later ones are likelier, so that lines build on each other."""
        if not names:
            raise Unfilled
        (name,) = self.random.choices(names, range(2, len(names) + 2))
        reads.add(name)
        return name

    def _size(self, reads: set[str]) -> str:
        known = self.program.sizes()
        if known and self.random.random() < 0.7:
            return self._pick(known, reads)
        name = self._pick(self.program.tensors(), reads)
        if self.program.environments[0][name].ndim == 0:
            raise Unfilled
        return f"{name}.shape[0]"

    def _layer(self) -> None:
        rank, make, call = self.random.choice(templates.LAYERS)
        reads: set[str] = set()
        name = self._pick(self.program.tensors(torch.float32), reads)
        value = self.program.environments[0][name]
        size = self.program.static_size(name, -1) if value.ndim else None
        if size is None or size > 64 or (rank and value.ndim != rank):
            raise Unfilled
        made, _ = self._filled(make.replace("{size}", str(size)))
        self._add_layer(made, call.replace("{x}", name), frozenset(reads))

    def _lookup(self) -> None:
        make, call = self.random.choice(templates.LOOKUPS)
        both, reads = self._filled(f"{make}§{call}")
        made, _, called = both.partition("§")
        self._add_layer(made, called, reads)

    def _add_layer(self, made: str, call: str, reads: frozenset[str]) -> None:
        layer, name = self._name("layer"), self._name("v")
        torch.manual_seed(self.seed)
        try:
            self.program.add_layer(layer, made)
        except (RuntimeError, ValueError, AssertionError):
            raise Unfilled from None
        if not self.program.try_line(name, f"{name} = {call.replace('@', layer)}", reads):
            self.program.drop_layer(layer)

    def _branch(self, test: tuple[str, frozenset[str]]) -> None:
        """Add a Python branch whose sides both run at every probe."""
        condition, reads = test
        group = self.random.choice((templates.POINTWISE, templates.INTEGERS, templates.STRUCTURE))
        (one, ours), (other, theirs) = (self._filled(self.random.choice(group)) for _ in range(2))
        name, trial = self._name("v"), self._name("v")
        before = len(self.program.statements)
        sides = [self.program.try_line(trial, f"{trial} = {side}", reads) for side in (one, other)]
        del self.program.statements[before:]
        for environment in self.program.environments:
            environment.pop(trial, None)
        if not all(sides):
            raise Unfilled
        text = f"if {condition}:\n    {name} = {one}\nelse:\n    {name} = {other}"
        self.program.try_line(name, text, reads | ours | theirs)

    def _outputs(self) -> list[str]:
        """Return one to five values: the last, and others that no line reads first."""
        statements = self.program.statements
        made = [entry.name for entry in statements if entry.name.startswith("v")]
        read = frozenset[str]().union(*(entry.reads for entry in statements))
        ends = [name for name in made if name not in read]
        others = [name for name in made if name in read]
        shuffled = [*self.random.sample(ends, len(ends)), *self.random.sample(others, len(others))]
        return [*dict.fromkeys([*made[-1:], *shuffled])][: self.random.randint(1, 5)]


def generate(seed: int) -> FuzzCase:
    """Return the model of a seed: the same whenever it is called."""
    for attempt in range(50):
        case = Generator(seed * 50 + attempt).case()
        if case is not None:
            return FuzzCase(seed, case.source, case.inputs, case.dims)
    msg = f"no model for seed {seed}"
    raise ValueError(msg)


def runs(case: FuzzCase) -> bool:
    """Return whether eager accepts what the manifest declares, and answers something."""
    names: dict[str, Any] = {}
    exec(case.source, names)  # the generator's own text
    torch.manual_seed(case.seed)
    module = names["build"]()
    answered = 0
    for place, sizes in enumerate(sizes_of(case.dims, case.seed + 1)):
        feed: Mapping[str, torch.Tensor] = draw(case.inputs, sizes, place)
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = module(*feed.values())
        except Exception:  # noqa: BLE001 - whatever torch raises: no model that a user would declare
            return False
        answered += sum(leaf.numel() for leaf in torch.utils._pytree.tree_leaves(answer))
    return answered > 0
