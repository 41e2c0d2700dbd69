"""`x.bool()` and `x.bfloat16()`, which tensors have in Python and not in torch.jit.script.

They are compiled as `x.to(dtype)`, with the number that a script has for the dtype.
"""

from __future__ import annotations

import ast

from modelexport_exporter.torch_internals.script_source import expression_at

_NUMBERS = {"bool": 11, "bfloat16": 15}
"""c10::ScalarType of the dtypes, by the methods that cast to them."""


def cast_by_number(definition: ast.FunctionDef) -> None:
    """Write the function's casts that scripts lack as `x.to(…)`."""
    _Casts().visit(definition)


class _Casts(ast.NodeTransformer):
    def visit_Call(self, call: ast.Call) -> ast.AST:
        self.generic_visit(call)
        match call:
            case ast.Call(ast.Attribute(value, name), [], []) if name in _NUMBERS:
                call.func = ast.copy_location(ast.Attribute(value, "to", ast.Load()), call)
                call.args = [expression_at(str(_NUMBERS[name]), call)]
        return call
