"""What the names of a function stand for: tensors, sizes, numbers taken from tensors.

A rough reading in the order of the code, without running it: enough to distinguish
`if x.sum() > 0` from `if mask is not None`. What is not known is OTHER, and is not reported.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import torch


class Kind(Enum):
    """What an expression is."""

    OTHER = 0
    CONTAINER = 1
    """A list, tuple or dict of tensors."""
    SIZE = 2
    """A number that depends on a tensor's shape."""
    SHAPE = 3
    """All sizes of a tensor."""
    VALUE = 4
    """A Python number taken from a tensor's elements."""
    TENSOR = 5


_NO_TENSOR = ("int", "float", "bool", "str", "dtype", "device", "Literal", "Callable", "SymInt")
_CONTAINERS = ("list", "tuple", "dict", "List", "Tuple", "Dict", "Sequence", "Mapping", "Iterable")
_TO_NUMBER = {"item", "tolist", "__bool__", "__int__", "__float__"}
_TO_SIZE = {"size", "numel", "nelement", "shape"}
_PLAIN = {"dim", "ndimension", "is_floating_point", "is_complex", "get_device", "type", "stride"}
_PLAIN_ATTRIBUTES = {"dtype", "device", "ndim", "is_cuda", "requires_grad", "layout", "names"}
_NUMBERS = {"int", "float", "bool", "complex"}
_PLAIN_TORCH = {
    "is_tensor", "is_floating_point", "is_grad_enabled", "no_grad", "device", "Size", "finfo",
    "iinfo", "Generator", "is_in_onnx_export", "is_tracing", "is_scripting", "_assert", "_check",
}  # fmt: skip
_OF_SEVERAL = {"split", "chunk", "unbind", "tensor_split", "unsafe_chunk", "nonzero_tuple"}


def parameter_kinds(
    tree: ast.FunctionDef | ast.AsyncFunctionDef, given: list[Kind] | None
) -> dict[str, Kind]:
    """Return what the parameters are: by the call's arguments, else by annotation and default."""
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    defaults: list[ast.expr | None] = [None] * (len(arguments) - len(tree.args.defaults))
    defaults += tree.args.defaults
    pairs = [
        *zip(arguments, defaults, strict=True),
        *zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True),
    ]
    kinds = {argument.arg: _parameter(argument.annotation, default) for argument, default in pairs}
    for argument, kind in zip(arguments, given or [], strict=False):
        if argument.annotation is None:
            kinds[argument.arg] = kind
    for rest in (tree.args.vararg, tree.args.kwarg):
        if rest is not None:
            kinds[rest.arg] = Kind.CONTAINER
    return kinds


def _parameter(annotation: ast.expr | None, default: ast.expr | None) -> Kind:
    if annotation is not None:
        text = ast.unparse(annotation)
        head = text.strip("'\"").partition("[")[0].rpartition(".")[2]
        if head in _CONTAINERS:
            return Kind.CONTAINER if "Tensor" in text else Kind.OTHER
        if "Tensor" in text:
            return Kind.TENSOR
        if any(word in text for word in (*_NO_TENSOR, "None")):
            return Kind.OTHER
    if isinstance(default, ast.Constant) and default.value is not None:
        return Kind.OTHER
    return Kind.TENSOR if annotation is None else Kind.OTHER


class Names:
    """What is known of the names in one function of one module."""

    def __init__(
        self,
        part: torch.nn.Module,
        scope: Mapping[str, Any],
        kinds: Mapping[str, Kind],
        own: str = "self",
    ) -> None:
        """`own`: what the function calls the module."""
        self.own = own
        self._part = part
        self._scope = scope
        self._kinds = {**kinds, own: Kind.OTHER}
        self.parameters = frozenset(kinds) - {own}

    def held(self, name: str) -> object:
        """Return what an attribute of the module is; None if it has no such."""
        return vars(self._part).get(name)

    def learn(self, tree: ast.AST) -> None:
        """Read all assignments, twice: loops use what is assigned further down."""
        for _ in range(2):
            for node in ast.walk(tree):
                self._learn_from(node)

    def _learn_from(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value, self.kind_of(node.value))
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value, self.kind_of(node.value))
        elif isinstance(node, ast.AugAssign):
            self._bind(
                node.target, None, max_kind([self.kind_of(node.target), self.kind_of(node.value)])
            )
        elif isinstance(node, ast.For | ast.comprehension):
            self._bind(node.target, None, self._element(node.iter))

    def _bind(self, target: ast.expr, value: ast.expr | None, kind: Kind) -> None:
        if isinstance(target, ast.Name):
            known = self._kinds.get(target.id, Kind.OTHER)
            if not (kind is Kind.OTHER and known is not Kind.OTHER and value is None):
                self._kinds[target.id] = kind
        elif isinstance(target, ast.Starred):
            self._bind(target.value, None, kind)
        elif isinstance(target, ast.Tuple | ast.List):
            single = {Kind.SHAPE: Kind.SIZE, Kind.CONTAINER: Kind.TENSOR}.get(kind, kind)
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for position, part in enumerate(target.elts):
                own = self.kind_of(parts[position]) if len(parts) == len(target.elts) else single
                self._bind(part, None, own)

    def _element(self, iterated: ast.expr) -> Kind:
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
            if iterated.func.id in {"zip", "enumerate", "reversed"}:
                return max_kind([self._element(argument) for argument in iterated.args])
            if iterated.func.id == "range":
                return Kind.OTHER
        kind = self.kind_of(iterated)
        return {
            Kind.SHAPE: Kind.SIZE,
            Kind.CONTAINER: Kind.TENSOR,
            Kind.SIZE: Kind.OTHER,
        }.get(kind, kind)

    def kind_of(self, node: ast.AST | None) -> Kind:  # noqa: C901, PLR0911, PLR0912 - a table of forms
        """Return what an expression is."""
        match node:
            case ast.Name(id=name):
                return self._kinds.get(name, Kind.OTHER)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Subscript(value=value):
                inner = self.kind_of(value)
                if inner is Kind.SHAPE:
                    return Kind.SHAPE if isinstance(node.slice, ast.Slice) else Kind.SIZE
                return Kind.TENSOR if inner is Kind.CONTAINER else inner
            case ast.BinOp(left=left, right=right):
                return max_kind([self.kind_of(left), self.kind_of(right)])
            case ast.UnaryOp(operand=operand):
                return self.kind_of(operand)
            case ast.BoolOp(values=values):
                return max_kind([self.kind_of(value) for value in values])
            case ast.Compare(left=left, ops=ops, comparators=others):
                if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops):
                    return Kind.OTHER
                return max_kind([self.kind_of(value) for value in [left, *others]])
            case ast.IfExp(body=body, orelse=orelse):
                return max_kind([self.kind_of(body), self.kind_of(orelse)])
            case ast.NamedExpr(value=value) | ast.Starred(value=value) | ast.Await(value=value):
                return self.kind_of(value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return _several([self.kind_of(element) for element in elts])
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                return _several([self.kind_of(element)])
        return Kind.OTHER

    def _attribute(self, node: ast.Attribute) -> Kind:
        if isinstance(node.value, ast.Name) and node.value.id == self.own:
            own = getattr(self._part, node.attr, None)
            return Kind.TENSOR if isinstance(own, torch.Tensor) else Kind.OTHER
        if self.kind_of(node.value) is not Kind.TENSOR:
            return Kind.OTHER
        if node.attr == "shape":
            return Kind.SHAPE
        return Kind.OTHER if node.attr in _PLAIN_ATTRIBUTES else Kind.TENSOR

    def _call(self, node: ast.Call) -> Kind:
        kinds = [self.kind_of(argument) for argument in node.args]
        if isinstance(node.func, ast.Name):
            return self._function(node.func.id, kinds)
        if not isinstance(node.func, ast.Attribute):
            return Kind.OTHER
        owner, method = node.func.value, node.func.attr
        if self._is_torch(owner):
            return Kind.OTHER if method in _PLAIN_TORCH else _result(method)
        if isinstance(owner, ast.Name) and owner.id == self.own:
            called = getattr(self._part, method, None)
            is_part = isinstance(called, torch.nn.Module) or Kind.TENSOR in kinds
            return Kind.TENSOR if is_part else Kind.OTHER
        if self.kind_of(owner) in {Kind.TENSOR, Kind.CONTAINER}:
            return self._method(method, node)
        return self.kind_of(owner)

    def _method(self, method: str, node: ast.Call) -> Kind:
        if method in _TO_NUMBER:
            return Kind.VALUE
        if method in _TO_SIZE:
            return Kind.SIZE if node.args or method != "size" else Kind.SHAPE
        return Kind.OTHER if method in _PLAIN else _result(method)

    def _function(self, name: str, kinds: list[Kind]) -> Kind:
        joined = max_kind(kinds)
        if name == "len":
            return Kind.SIZE if joined is Kind.TENSOR else Kind.OTHER
        if name in _NUMBERS:
            return Kind.VALUE if joined in {Kind.TENSOR, Kind.VALUE} else joined
        if name in {"isinstance", "hasattr", "range", "print", "type", "callable"}:
            return Kind.OTHER
        if name in {"min", "max", "sum", "abs", "round", "list", "tuple"}:
            return joined
        owner = self._scope.get(name)
        is_torchs = getattr(owner, "__module__", "") or ""
        if isinstance(owner, types.BuiltinFunctionType) or str(is_torchs).startswith("torch"):
            return Kind.TENSOR if joined in {Kind.TENSOR, Kind.CONTAINER} else Kind.OTHER
        return Kind.TENSOR if joined is Kind.TENSOR else Kind.OTHER

    def _is_torch(self, owner: ast.expr) -> bool:
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if not isinstance(owner, ast.Name):
            return False
        module = self._scope.get(owner.id)
        return isinstance(module, types.ModuleType) and module.__name__.startswith("torch")


def max_kind(kinds: Iterable[Kind]) -> Kind:
    """Return the most telling of several kinds."""
    return max(kinds, key=lambda kind: kind.value, default=Kind.OTHER)


def _several(kinds: list[Kind]) -> Kind:
    joined = max_kind(kinds)
    return Kind.CONTAINER if joined is Kind.TENSOR else joined


def _result(method: str) -> Kind:
    return Kind.CONTAINER if method in _OF_SEVERAL else Kind.TENSOR
