"""Index patterns that the TorchScript route translates wrongly or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_MAKERS = {"torch.tensor", "torch.LongTensor", "torch.as_tensor"}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield writes through several, separated or negative tensor indices, and such reads."""
    for node in code.walk(ast.Subscript):
        if code.names.kind_of(node.value) is not Kind.TENSOR:
            continue
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        tensors = [place for place, index in enumerate(indices) if _is_tensor(code, index)]
        if not tensors:
            continue
        if isinstance(node.ctx, ast.Store):
            yield from _writes(code, node, indices, tensors)
        elif any(_is_negative(code, indices[place]) for place in tensors):
            yield Pitfall(
                PitfallKind.INDEX_READ,
                f"`{code.text(node)}` reads with negative numbers in a tensor of indices",
                code.place(node),
                "Write the indices without negative numbers: torch.where(i < 0, i + x.shape[0], "
                "i), or x.shape[0] - 1.",
            )


def _writes(
    code: ForwardCode, node: ast.Subscript, indices: list[ast.expr], tensors: list[int]
) -> Iterator[Pitfall]:
    for problem in _problems(code, indices, tensors):
        yield Pitfall(
            PitfallKind.INDEX_WRITE,
            f"`{code.text(node)} = …` writes {problem}",
            code.place(node),
            "Write with torch.where(mask, new, x), x.scatter(dim, index, new) or x.index_put((i, "
            "j), new) with non-negative indices of one rank and values of the indices' shape.",
        )


def _problems(code: ForwardCode, indices: list[ast.expr], tensors: list[int]) -> Iterator[str]:
    if len(tensors) > 1:
        if tensors[-1] - tensors[0] + 1 > len(tensors):
            yield "through tensor indices with a slice between them"
        else:
            yield "through several tensor indices, whose ranks and sizes must agree"
    if any(_is_negative(code, indices[place]) for place in tensors):
        yield "through negative indices"


def _is_tensor(code: ForwardCode, index: ast.expr) -> bool:
    if isinstance(index, ast.List):
        return True
    return code.names.kind_of(index) is Kind.TENSOR and not isinstance(index, ast.Compare)


def _is_negative(code: ForwardCode, index: ast.expr) -> bool:
    """Return whether an index holds a negative constant: `torch.tensor([-1])`, `[-2, 0]`, `-i`."""
    if isinstance(index, ast.Name):
        index = _assigned(code, index.id) or index
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        return True
    if isinstance(index, ast.Call) and code.dotted(index.func) not in _MAKERS:
        return False
    if not isinstance(index, ast.Call | ast.List):
        return False
    return any(
        isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) for part in ast.walk(index)
    )


def _assigned(code: ForwardCode, name: str) -> ast.expr | None:
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            return node.value
    return None
