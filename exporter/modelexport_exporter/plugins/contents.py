"""What a plugin's module defines, checked: the names that torch.onnx and ModelExport know.

Guarantees that everything later finds values of the right type, and that plugins which contradict
each other are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import GenericAlias
from typing import Any, TypeVar

import onnx
import onnx_ir as ir
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.torch_internals.operators import OpOverload, OpOverloadPacket

_Tensor = TypeVar("_Tensor")
"""Any type of tensor, as an annotation."""

Table = dict[Any, Callable[..., Any]]


@dataclass
class Contents:
    """What all plugins define together."""

    translations: Table = field(default_factory=dict)
    custom_opsets: dict[str, int] = field(default_factory=dict)
    decompositions: Table = field(default_factory=dict)
    functions: list[Any] = field(default_factory=list)
    """onnxscript functions, onnx.FunctionProto or onnx_ir.Function."""
    configure_session: list[tuple[str, Callable[[Any], object]]] = field(default_factory=list)
    """With the name of the plugin."""
    origins: dict[tuple[str, str], str] = field(default_factory=dict)
    """Which plugin defined a key of a table."""

    def add(self, plugin: str, module: Mapping[str, Any]) -> None:
        """Take what a plugin's module defines. Raises ExportFailure."""
        translations = _mapping(plugin, "custom_translation_table", module)
        for key, value in translations.items():
            operator = _operator(plugin, "custom_translation_table", key)
            self._claim(plugin, "custom_translation_table", operator)
            self.translations[operator] = _translation(plugin, operator, value)
        for key, value in _mapping(plugin, "decompositions", module).items():
            operator = _operator(plugin, "decompositions", key)
            self._claim(plugin, "decompositions", operator)
            if not callable(value):
                raise _wrong(f"{plugin}.decompositions[{operator}]", value, "a callable")
            self.decompositions[operator] = value
        for domain, version in _mapping(plugin, "custom_opsets", module).items():
            self._add_opset(plugin, domain, version)
        for function in _sequence(plugin, "onnx_functions", module):
            self._add_function(plugin, function)
        configure = module.get("configure_session")
        if configure is not None:
            if not callable(configure):
                raise _wrong(
                    f"{plugin}.configure_session", configure, "a function that takes the options"
                )
            self.configure_session.append((plugin, configure))

    def _add_opset(self, plugin: str, domain: object, version: object) -> None:
        if not isinstance(domain, str) or not domain:
            raise _wrong(f"a key of {plugin}.custom_opsets", domain, "the name of a domain")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise _wrong(f"{plugin}.custom_opsets[{domain!r}]", version, "a positive int")
        known = self.custom_opsets.get(domain)
        if known not in {None, version}:
            first = self.origins["custom_opsets", domain]
            raise _clash(first, plugin, f"give domain {domain} the versions {known} and {version}")
        self.custom_opsets[domain] = version
        self.origins["custom_opsets", domain] = plugin

    def _add_function(self, plugin: str, function: object) -> None:
        is_function = isinstance(function, onnx.FunctionProto | ir.Function)
        if not is_function and not hasattr(function, "to_function_proto"):
            raise _wrong(
                f"an entry of {plugin}.onnx_functions",
                function,
                "a function made with onnxscript.script(), an onnx.FunctionProto or an "
                "onnx_ir.Function",
            )
        domain, name = function_id(function)
        self._claim(plugin, "onnx_functions", f"{domain}::{name}")
        self.functions.append(function)

    def _claim(self, plugin: str, table: str, key: object) -> None:
        first = self.origins.setdefault((table, str(key)), plugin)
        if first != plugin:
            raise _clash(first, plugin, f"both define {key} in {table}")


def function_id(function: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return domain and name of a function in any of its forms."""
    if hasattr(function, "to_function_proto"):
        return function.opset.domain, function.name
    return function.domain, function.name


def clash_of_symbolics(first: str, second: str, operator: str, opset: int) -> ExportFailure:
    """Return the failure for two plugins with a symbolic function for one operator."""
    return _clash(first, second, f"both register a symbolic function of {operator} (opset {opset})")


def _mapping(plugin: str, name: str, module: Mapping[str, Any]) -> Mapping[Any, Any]:
    value = module.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _wrong(f"{plugin}.{name}", value, "a dict")
    return value


def _sequence(plugin: str, name: str, module: Mapping[str, Any]) -> Iterable[Any]:
    value = module.get(name)
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return value.values()
    if not isinstance(value, Sequence | set | frozenset) or isinstance(value, str | bytes):
        raise _wrong(f"{plugin}.{name}", value, "a list of functions")
    return value


def _operator(plugin: str, table: str, key: object) -> Any:  # noqa: ANN401
    """Return an overload for an overload, a packet with one of them, or a name; else a callable."""
    if isinstance(key, str):
        key = _find_named(plugin, table, key)
    if isinstance(key, OpOverloadPacket):
        overloads: list[str] = key.overloads()  # type: ignore[no-untyped-call]
        if "default" not in overloads and len(overloads) != 1:
            listed = ", ".join(f"{key}.{overload}" for overload in overloads)
            raise _wrong(f"a key of {plugin}.{table}", key, f"one overload of it: {listed}")
        return getattr(key, "default" if "default" in overloads else overloads[0])
    if not isinstance(key, OpOverload) and not callable(key):
        raise _wrong(
            f"a key of {plugin}.{table}", key, "an operator such as torch.ops.aten.elu.default"
        )
    return key


def _find_named(plugin: str, table: str, key: str) -> object:
    namespace, _, rest = key.replace("::", ".").partition(".")
    owner: object = getattr(torch.ops, namespace)
    for part in rest.split("."):
        owner = getattr(owner, part, None)
        if owner is None:
            raise ExportFailure(
                Reason.CODE_INVALID,
                f"a key of {plugin}.{table} is {key!r}, but torch has no such operator",
                "Name it as namespace::operator, or namespace::operator.overload.",
            )
    return owner


def _translation(plugin: str, operator: object, value: object) -> Callable[..., Any]:
    """Return the function; of a list, as torch once took, the first: there are no overloads now."""
    if isinstance(value, list | tuple) and value:
        value = value[0]
    if not callable(value):
        raise _wrong(
            f"{plugin}.custom_translation_table[{operator}]",
            value,
            "a function that builds the graph with onnxscript",
        )
    _annotate_outputs(value)
    return value


def _annotate_outputs(function: Any) -> None:  # noqa: ANN401
    """Annotate what an onnxscript function returns; torch takes it for nothing otherwise."""
    body = getattr(function, "function_ir", None)
    annotations = getattr(function, "__annotations__", None)
    if body is None or annotations is None or "return" in annotations:
        return
    outputs = len(body.outputs)
    annotations["return"] = _Tensor if outputs == 1 else GenericAlias(tuple, (_Tensor,) * outputs)


def _wrong(subject: str, found: object, expected: str) -> ExportFailure:
    text = repr(found)
    shown = text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004
    return ExportFailure(
        Reason.CODE_INVALID,
        f"{subject} is {shown} ({type(found).__name__}); expected {expected}",
        "Correct the plugin.",
    )


def _clash(first: str, second: str, what: str) -> ExportFailure:
    return ExportFailure(
        Reason.CODE_INVALID,
        f"export.plugins: {first} and {second} clash: they {what}".replace("they both", "both"),
        "Leave one of the plugins out, or the definition in one of them.",
    )
