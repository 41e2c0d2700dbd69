"""Which values of a script's graph are floats of Python, and which of them Python computed.

A script has three types for numbers: float, int, and Scalar for what `item()` returns.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Node: TypeAlias = Any
Value: TypeAlias = Any
"""torch._C's, which are untyped."""

FLOAT = "aten::Float"
"""float(number), which torch.jit.script also writes where a Scalar becomes a float."""
_IMPLICIT = "aten::FloatImplicit"
"""What is a float for the script is a tensor in Python."""
_ARITHMETIC = frozenset({"aten::add", "aten::sub", "aten::mul", "aten::div", "aten::neg"}) | {
    "prim::abs"
}
_FUNCTIONS = frozenset(
    f"aten::{name}" for name in ("cos", "exp", "log", "log10", "sin", "sqrt", "tan", "tanh")
)
"""Functions of Python's math, which return a float of any number."""
_NUMBERS = frozenset({"FloatType", "IntType", "NumberType"})
_BRANCH, _ITEM = "prim::If", "aten::item"
_OF_FLOATS = frozenset(
    f"aten::{name}"
    for name in (
        *(
            "abs",
            "add",
            "amax",
            "amin",
            "clamp",
            "cos",
            "cumsum",
            "detach",
            "div",
            "exp",
            "flatten",
        ),
        *("log", "max", "maximum", "mean", "min", "minimum", "mul", "neg", "norm", "pow", "prod"),
        *("relu", "reshape", "select", "sigmoid", "sin", "slice", "sqrt", "squeeze", "sub", "sum"),
        *("tanh", "transpose", "unsqueeze", "view"),
    )
)
"""What returns floats of floats."""


class PythonNumbers:
    """The floats of one graph."""

    def __init__(self, floats: frozenset[str]) -> None:
        """`floats`: the graph's inputs of floating-point dtypes, by their names."""
        self._floats = floats

    def computes_float(self, node: Node) -> bool:
        """Return whether a node computes a float from Python numbers."""
        if node.kind() not in _ARITHMETIC | _FUNCTIONS or not all(map(is_number, node.inputs())):
            return False
        return node.kind() in _FUNCTIONS | {"aten::div"} or any(map(self.is_float, node.inputs()))

    def is_float(self, value: Value) -> bool:
        """Return whether a Python number is a float."""
        if is_python_float(value):
            return True
        if not is_number(value):
            return False
        made = value.node()
        if made.kind() == _ITEM:
            return self._is_float_tensor(made.inputsAt(0))
        return self.computes_float(made)

    def is_computed(self, value: Value) -> bool:
        """Return whether Python computed a float, and did not read it, on a side of a branch."""
        made = value.node()
        if made.kind() == FLOAT:
            return is_number(made.inputsAt(0)) and self.is_computed(made.inputsAt(0))
        if made.kind() != _BRANCH:
            return self.computes_float(made)
        place = [output.unique() for output in made.outputs()].index(value.unique())
        sides = [block.returnNode().inputsAt(place) for block in made.blocks()]
        tensors = any(side.node().kind() == _IMPLICIT for side in sides)
        return is_number(value) and not tensors and any(map(self.is_computed, sides))

    def _is_float_tensor(self, tensor: Value) -> bool:
        if tensor.debugName() in self._floats:
            return True
        made = tensor.node()
        return made.kind() in _OF_FLOATS and self._is_float_tensor(made.inputsAt(0))


def is_number(value: Value) -> bool:
    """Return whether a value is a number of Python."""
    return value.type().kind() in _NUMBERS


def is_python_float(value: Value) -> bool:
    """Return whether the script calls a value a float."""
    return bool(value.type().kind() == "FloatType")
