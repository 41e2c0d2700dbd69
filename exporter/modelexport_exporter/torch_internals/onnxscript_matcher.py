"""Make the rules of onnxscript's optimizer compare operator names first, and constants exactly.

The optimizer tries about fifty rules on each node. Each attempt prepares a match, and the text why
it failed, before it compares operator names. Comparing the names first halves the optimizer's time
and changes no result: a rule whose root is another operator never matches.

A constant matches 0 if it is below 1e-8, and 1 if it differs from it by less than 1e-5: the rules
for `x + 0` and `x * 1` remove `x + 1e-9` and `x * 1.000005`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from onnxscript.rewriter import _basics, _matcher


@contextmanager
def compare_operators_first() -> Iterator[None]:
    """Let rules reject a node by its operator before they do anything else."""
    matcher = _matcher.SimplePatternMatcher
    full_match = matcher.match
    rejected = _basics.MatchResult().fail("another operator")

    def match(self: Any, model: Any, graph: Any, node: Any, **options: Any) -> Any:  # noqa: ANN401
        root = self.pattern.output_nodes[0]
        if options.get("tracer") is None and not root.op.matches(node.op_type):
            return rejected
        return full_match(self, model, graph, node, **options)

    matcher.match = match  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        matcher.match = full_match  # type: ignore[method-assign]


@contextmanager
def compare_constants_exactly() -> Iterator[None]:
    """Let a constant match a rule's number only if it is that number, rounded to its dtype."""
    matcher = _matcher.SimplePatternMatcher
    is_close = matcher._match_constant  # noqa: SLF001

    def match(self: Any, pattern: Any, value: Any) -> bool:  # noqa: ANN401
        if not is_close(self, pattern, value):
            return False
        constant = value.const_value.numpy()
        if np.array_equal(np.asarray(pattern.value).astype(constant.dtype), constant):
            return True
        return self.fail("another constant")  # type: ignore[no-any-return]

    matcher._match_constant = match  # type: ignore[method-assign, assignment]  # noqa: SLF001
    try:
        yield
    finally:
        matcher._match_constant = is_close  # type: ignore[method-assign]  # noqa: SLF001
