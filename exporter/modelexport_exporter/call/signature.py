"""What forward takes, of a module from Python, TorchScript or torch.export."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, Optional

import torch

_PASSED_IN_ORDER = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Signature:
    """The parameters of forward, by name, in order."""

    parameters: dict[str, Parameter]
    """Annotations are types, never strings; those that cannot be resolved are absent."""

    @property
    def ordered(self) -> list[str]:
        """Return the parameters that can be passed in order."""
        return [name for name, p in self.parameters.items() if p.kind in _PASSED_IN_ORDER]

    @property
    def required(self) -> set[str]:
        """Return the parameters that have no default."""
        variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        return {
            name
            for name, p in self.parameters.items()
            if p.default is Parameter.empty and p.kind not in variadic
        }

    def variadic(self, kind: Any) -> str | None:  # noqa: ANN401 - inspect's own enum
        """Return the name of `*args` or `**kwargs`, None where forward has none."""
        return next((name for name, p in self.parameters.items() if p.kind is kind), None)

    def __str__(self) -> str:
        """Return `forward(x, mask=None, *, scale=1.0)`."""
        bare = [p.replace(annotation=Parameter.empty) for p in self.parameters.values()]
        return f"forward{inspect.Signature(bare)}"


def signature_of(module: Any) -> Signature:  # noqa: ANN401 - a module, or a scripted function
    """Return forward's signature."""
    if isinstance(module, torch.jit.ScriptFunction):
        function: Any = module
        return _of_arguments(function.schema.arguments)
    if isinstance(module, torch.jit.ScriptModule):
        forward_method: Any = module.forward
        return _of_arguments(forward_method.schema.arguments[1:])  # without the module itself
    forward: Callable[..., Any] = getattr(module, "forward", module)
    hints = _hints(forward)
    return Signature(
        {
            name: parameter.replace(annotation=hints.get(name, Parameter.empty))
            for name, parameter in inspect.signature(forward).parameters.items()
        }
    )


def _hints(forward: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(inspect.unwrap(forward))
    except Exception:  # noqa: BLE001 - annotations are the user's, and may not be importable
        return {}


def _of_arguments(arguments: Any) -> Signature:  # noqa: ANN401 - torch._C is untyped
    """Return the signature of a scripted function; archives hold only what their types say."""
    found: dict[str, Parameter] = {}
    for argument in arguments:
        kind = Parameter.KEYWORD_ONLY if argument.kwarg_only else Parameter.POSITIONAL_OR_KEYWORD
        default = argument.default_value if argument.has_default_value() else Parameter.empty
        annotation = _python_type(argument.type)
        found[argument.name] = Parameter(
            argument.name, kind, default=default, annotation=annotation
        )
    return Signature(found)


def _python_type(scripted: Any) -> Any:  # noqa: ANN401, PLR0911 - one line a type
    match scripted.kind():
        case "TupleType":
            return tuple[tuple(_python_type(part) for part in scripted.elements())]  # type: ignore[misc]
        case "ListType":
            return list[_python_type(scripted.getElementType())]  # type: ignore[misc]
        case "DictType":
            types = (_python_type(scripted.getKeyType()), _python_type(scripted.getValueType()))
            return dict[types]  # type: ignore[misc, valid-type]
        case "OptionalType":
            return Optional[_python_type(scripted.getElementType())]  # noqa: UP045 - made at run time
        case "IntType":
            return int
        case "FloatType":
            return float
        case "BoolType":
            return bool
        case "StringType":
            return str
        case "TensorType":
            return torch.Tensor
    return Parameter.empty
