"""Make the rules of onnxscript's optimizer compare operator names first.

The optimizer tries about fifty rules on each node. Each attempt prepares a match, and the text why
it failed, before it compares operator names. Comparing the names first halves the optimizer's time
and changes no result: a rule whose root is another operator never matches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
