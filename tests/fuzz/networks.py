"""Networks of NNSmith, a public fuzzer of compilers: its valid graphs, as files of Python."""

from __future__ import annotations

import base64
import pickle
import random
from collections.abc import Iterator

import numpy as np
import torch
from nnsmith.abstract.dtype import DType  # type: ignore[import-untyped]
from nnsmith.error import ConstraintError  # type: ignore[import-untyped]
from nnsmith.gir import GraphIR  # type: ignore[import-untyped]
from nnsmith.graph_gen import model_gen  # type: ignore[import-untyped]
from nnsmith.materialize import Model  # type: ignore[import-untyped]

from fuzz.case import FuzzCase

NODES = 10
MOST_ELEMENTS = 4096
"""Of a tensor."""
ATTEMPTS = 20
_COMPLEX = (DType.complex64, DType.complex128)
_SOURCE = '''"""A network of NNSmith: seed {seed}."""

import base64
import pickle

import torch
from nnsmith.materialize import Model

GRAPH = """
{graph}
"""


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed({seed})
        graph = pickle.loads(base64.b64decode(GRAPH))
        self.network = Model.init("torch", "cpu").from_gir(graph).torch_model

    def forward(self, {names}):
        # Not the network's own: it checks and logs each value, for its search of inputs.
        values = dict(zip({inputs}, ({names},)))
        for run, taken, made, _ in self.network.instructions:
            answer = run(*(values[name] for name in taken))
            values.update(zip(made, answer if isinstance(answer, list) else [answer]))
        return tuple(values[name] for name in {outputs})


def build():
    return Network().eval()
'''


def generate_network(seed: int) -> FuzzCase:
    """Return the first network of real numbers that the seed leads to."""
    graph = next(_graphs(seed))
    model = Model.init("torch", "cpu").from_gir(graph)
    inputs = tuple(
        {
            "name": name,
            "dtype": str(kind.dtype.torch()).removeprefix("torch."),
            "shape": [int(size) for size in kind.shape],
        }
        for name, kind in model.input_like.items()
    )
    text = base64.encodebytes(pickle.dumps(graph)).decode().strip()
    source = _SOURCE.format(
        seed=seed,
        graph=text,
        names=", ".join(model.input_like),
        inputs=tuple(model.input_like),
        outputs=tuple(model.output_like),
    )
    return FuzzCase(seed, source, inputs, {})


def _graphs(seed: int) -> Iterator[GraphIR]:
    """Yield graphs that eager PyTorch runs."""
    kind = Model.init("torch", "cpu")
    for attempt in range(ATTEMPTS):
        own = seed * ATTEMPTS + attempt
        random.seed(own)
        np.random.seed(own)
        torch.manual_seed(own)
        try:
            graph = model_gen(
                opset=kind.operators(),
                seed=own,
                max_elem_per_tensor=MOST_ELEMENTS,
                max_nodes=NODES,
                timeout_ms=10_000,
            ).make_concrete()
        except ConstraintError:
            continue
        if _runs(kind, graph):
            yield graph
    msg = f"seed {seed} leads to no network of real numbers"
    raise ValueError(msg)


def _runs(kind: Model, graph: GraphIR) -> bool:
    """Return whether the graph has inputs, real numbers only, and runs in eager PyTorch."""
    if any(tensor.dtype in _COMPLEX for tensor in graph.vars.values()):
        return False
    model = kind.from_gir(graph)
    if not model.input_like:
        return False
    given = [
        torch.ones([int(size) for size in entry.shape], dtype=entry.dtype.torch())
        for entry in model.input_like.values()
    ]
    try:
        model.torch_model(*given)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return False
    return True
