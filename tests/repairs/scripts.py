"""For each rewrite of the TorchScript route, a call that its exporter refuses or gets wrong."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from modelexport_exporter.decompositions.torchscript.pools import POOLS
from modelexport_exporter.decompositions.torchscript.rewrites import REWRITES
from repairs.check import Call, Function

NEWEST = 17
X = torch.arange(12.0).reshape(3, 4) / 4 - 1
LARGE = 16_777_217
"""The first integer that float32 cannot hold."""
N = torch.tensor([[4, -6, LARGE, 0], [3, -LARGE, -5, 1], [7, 2, -1, -3]])
SIGNAL = torch.arange(18.0).reshape(2, 9).cos() + 2
IMAGE = torch.arange(2.0 * 7 * 9).reshape(2, 7, 9).cos() + 2
VOLUME = torch.arange(2.0 * 5 * 7 * 9).reshape(2, 5, 7, 9).cos() + 2
LAST, FIRST = torch.tensor([-1, 0]), torch.tensor([0, 1])

_FUNCTIONS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "clamp": (lambda n: n.clamp(-1, 2 * LARGE), (N,)),
    "clamp_min": (lambda n: n.clamp_min(-1), (N,)),
    "clamp_max": (lambda n: n.clamp_max(2 * LARGE), (N,)),
    "maximum": (torch.maximum, (N, -N)),
    "minimum": (torch.minimum, (N, -N)),
    "eq": (lambda x: x.floor() == 0, (X,)),
    "ne": (lambda x: x.floor() != 0, (X,)),
    "flip": (lambda x: x.flip(0, 1), (X,)),
    "diagonal": (lambda x: x.diagonal(1), (X,)),
    "permute": (lambda x: x.permute(-1, 0), (X,)),
    "movedim": (lambda x: x.movedim(-1, 0), (X,)),
    "__iand__": (lambda x: (x > 0).__iand__(x < 1), (X,)),
    "__ior__": (lambda x: (x > 1).__ior__(x < 0), (X,)),
    "__ixor__": (lambda x: (x > 0).__ixor__(x < 1), (X,)),
    "fill_diagonal": (lambda x: x.clone().fill_diagonal_(2.0), (X,)),
    "floor_divide": (lambda n: torch.floor_divide(n, -4), (N,)),
    "threshold": (lambda x: F.threshold(x, 0.1, 0.5), (X,)),
    "norm": (lambda x: torch.dist(x, 2 * x), (X,)),
    "sum": (lambda n: n.sum(()), (N,)),
    "kron": (torch.kron, (X, X[:2, :2])),
    "linalg_multi_dot": (lambda x: torch.linalg.multi_dot([x, x.mT, x]), (X,)),
    "bilinear": (lambda x: F.bilinear(x, x, torch.ones(2, 4, 4), torch.ones(2)), (X,)),
}
_ELEMENTARY: dict[str, Function] = {
    "sinh": lambda x: x.sinh(),
    "cosh": lambda x: x.cosh(),
    "asinh": lambda x: x.asinh(),
    "acosh": lambda x: (x.abs() + 1).acosh(),
    "atanh": lambda x: (x / 4).atanh(),
    "erfc": lambda x: x.erfc(),
    "exp2": lambda x: x.exp2(),
    "trunc": lambda x: x.trunc(),
}


def _pool(name: str) -> tuple[Function, Call]:
    short = name.removeprefix("aten::")
    adaptive = short.startswith("adaptive")
    name = short.removesuffix("_with_indices")
    options: dict[str, Any] = {"return_indices": True} if name != short else {}
    x = {"1": SIGNAL, "2": IMAGE, "3": VOLUME}[name[-2]]
    pool = getattr(F, name)
    return lambda y: pool(y, 1 if adaptive else 2, **options), Call((x,), opset=NEWEST)


def _calls() -> dict[str, tuple[Function, Call]]:
    calls: dict[str, tuple[Function, Call]] = {}
    for name, rewrite in REWRITES.items():
        short = name.removeprefix("aten::")
        if name in POOLS:
            calls[short] = _pool(name)
        else:
            function, args = _FUNCTIONS[short]
            calls[short] = (function, Call(args, opset=min(rewrite.before - 1, NEWEST)))
    calls |= {name: (of, Call((X,), opset=NEWEST)) for name, of in _ELEMENTARY.items()}
    calls["index"] = (lambda x: x[LAST, FIRST - 1], Call((X,), opset=NEWEST))
    return calls


CALLS = _calls()
