"""YAML as kubectl reads it: the same text means the same in a file, a terminal and a cluster.

kubectl reads dates as text and `1e-5` as a number, unlike PyYAML. It also reads `y` and `n` as
booleans: that is not repeated here, where they are common names, but they are written in quotes.
A key that occurs twice is an error: kubectl would ignore all but the last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.parser import ParserError

from modelexport_api.printable import excerpt

_FLOAT = re.compile(
    r"""^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    |[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN))$""",
    re.VERBOSE,
)
_INTEGER = re.compile(r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$")
_REPLACED = {f"tag:yaml.org,2002:{name}" for name in ("float", "int", "timestamp")}
_LETTER = re.compile(r"^[yYnN]$")


MOST_VALUES = 1_000_000
"""Of a document, aliases written out. Nine lines of nine aliases each stand for 10^9 values."""


_DEEPEST = 200
"""Brackets inside of each other; a manifest has 96 levels at most."""


class KeyTwiceError(yaml.MarkedYAMLError):
    """A mapping that has a key twice."""


class TooManyValuesError(yaml.YAMLError):
    """A document whose aliases stand for more values than any manifest has."""


class _Loader(yaml.SafeLoader):
    """Reads scalars as kubectl does; refuses a key that occurs twice, and aliases that multiply."""

    def compose_document(self) -> yaml.Node | None:
        """Return the document's root, whose aliases are nodes that occur more than once."""
        root: yaml.Node | None = super().compose_document()
        if root is not None and _count(root, {}) > MOST_VALUES:
            raise TooManyValuesError(
                f"its aliases stand for more than {MOST_VALUES:,} values; write them out"
            )
        return root

    def fetch_flow_collection_start(self, kind: type[yaml.Token]) -> None:
        """Refuse deep nesting at once: PyYAML looks at each open bracket for each token."""
        if self.flow_level > _DEEPEST:
            raise RecursionError
        super().fetch_flow_collection_start(kind)

    def process_directives(self) -> Any:  # noqa: ANN401 - of PyYAML
        """Refuse a directive that only PyYAML ignores."""
        token = self.peek_token()  # type: ignore[no-untyped-call]
        if isinstance(token, yaml.DirectiveToken) and token.name not in {"YAML", "TAG"}:
            problem = f"found the unknown directive %{excerpt(token.name)}"
            raise ParserError(None, None, problem, token.start_mark)
        return super().process_directives()  # type: ignore[no-untyped-call]

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401 - any
        """Return a node's value; a tag that does not fit raises anything in PyYAML."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, KeyError, AttributeError):
            kind = node.tag.rpartition(":")[2]
            text = excerpt(node.value) if isinstance(node, yaml.ScalarNode) else "what is here"
            problem = f"{text} cannot be read as {kind}, which it is written as"
            raise ConstructorError(None, None, problem, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        if getattr(node, "id", "") != "mapping":  # `!!map [a]`
            return super().construct_mapping(node, deep)
        seen: dict[object, yaml.Node] = {}
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else key
            if name in seen:
                first = seen[name].start_mark
                problem = f"the key {key.value} occurs twice: also on line {first.line + 1}"
                raise KeyTwiceError(None, None, problem, key.start_mark)
            seen[name] = key
        return super().construct_mapping(node, deep)

    def read_integer(self, node: yaml.ScalarNode) -> int:
        """Return an integer; `0o10` and `010` are octal."""
        text = str(self.construct_scalar(node)).replace("_", "")
        digits = text.lstrip("+-")
        if digits.isdigit() and digits.startswith("0"):
            text = text.replace("0", "0o", 1) if digits.strip("0") else "0"
        return int(text, 0)


def _count(node: yaml.Node, known: dict[int, int]) -> int:
    """Return how many values a node has, with those that aliases repeat."""
    if not isinstance(node, yaml.CollectionNode):
        return 1
    if id(node) not in known:
        # An alias of what contains it stands for infinitely many.
        known[id(node)] = MOST_VALUES + 1
        children = [
            child
            for entry in node.value
            for child in (entry if isinstance(entry, tuple) else (entry,))
        ]
        known[id(node)] = 1 + sum(_count(child, known) for child in children)
    return known[id(node)]


class _Dumper(yaml.SafeDumper):
    """Writes text that kubectl would read as something else in quotes."""


def _without_replaced(resolvers: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {
        first: [entry for entry in entries if entry[0] not in _REPLACED]
        for first, entries in resolvers.items()
    }


_Loader.yaml_implicit_resolvers = _without_replaced(yaml.SafeLoader.yaml_implicit_resolvers)
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INTEGER, list("-+0123456789"))
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.read_integer)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _LETTER, list("yYnN"))


def load_all(text: str) -> list[object]:
    """Return the documents of a text that are not empty. Raises YAMLError or RecursionError."""
    return [entry for entry in yaml.load_all(text, _Loader) if entry is not None]


def dump(value: object, *, width: float = 80) -> str:
    """Return a value as YAML, in lines."""
    return _dump(value, width, flow=False)


def inline(value: object) -> str:
    """Return a value as YAML on one line: `{min: 1, max: 64}`."""
    return _dump(value, math.inf, flow=True).removesuffix("\n").removesuffix("\n...")


def letters_read_as_booleans(text: str) -> list[tuple[int, str]]:
    """Return lines and letters that are names here, and booleans for kubectl: `y`, `n`."""
    if re.search(r"(?<![\w.-])[yYnN](?![\w.-])", text) is None:
        return []
    return [
        (token.start_mark.line + 1, token.value)
        for token in yaml.scan(text)
        if isinstance(token, yaml.ScalarToken) and token.plain and _LETTER.match(token.value)
    ]


def _dump(value: object, width: float, *, flow: bool) -> str:
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=flow,
        sort_keys=False,
        allow_unicode="\\" not in repr(value),  # PyYAML writes some line breaks as they are
        width=width,
    )
    return text
