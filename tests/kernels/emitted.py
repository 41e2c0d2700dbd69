"""Which operators an exported file may hold: those that the translations name in their source.

torchlib and torch.onnx's other functions write them for torch.export's route, the symbolic
functions for the TorchScript route, the exporter's own translations and passes for both. The
decompositions write ATen operators, which these translate.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

_PACKAGES = (
    "onnxscript.function_libs.torch_lib",
    "torch.onnx._internal.exporter",
    "torch.onnx._internal.torchscript_exporter",
    "modelexport_exporter.convert",
    "modelexport_exporter.decompositions",
    "modelexport_exporter.torch_internals",
)
_CALLS = re.compile(r"\bop\d*\.([A-Z]\w+)\(|\b(?:op|named)\(\s*(?:node, )?\"([A-Z]\w+)\"")

LEFT_OUT = {
    "Bernoulli": "random",
    "BlackmanWindow": "of a constant size: a constant",
    "CastLike": "Cast",
    "ConcatFromSequence": "Concat",
    "Constant": "no arithmetic",
    "ConstantFill": "of opset 1",
    "ConstantOfShape": "no arithmetic",
    "DFT": "decomposed into matrix products",
    "DequantizeLinear": "written by export.precision only, whose verdict has limits of its own",
    "Det": "decomposed",
    "DynamicSlice": "of opset 1",
    "EyeLike": "no arithmetic",
    "HammingWindow": "of a constant size: a constant",
    "HannWindow": "of a constant size: a constant",
    "MaxRoiPool": "written by a symbolic function of Caffe2's operators, which no module calls",
    "Multinomial": "random",
    "NegativeLogLikelihoodLoss": "a loss; Log, Gather and sums",
    "OptionalGetElement": "no arithmetic",
    "OptionalHasElement": "no arithmetic",
    "QuantizeLinear": "written by export.precision only, whose verdict has limits of its own",
    "RandomNormal": "random",
    "RandomNormalLike": "random",
    "RandomUniform": "random",
    "RandomUniformLike": "random",
    "STFT": "decomposed into matrix products",
    "Scatter": "ScatterElements since opset 11",
    "SequenceAt": "no arithmetic",
    "SequenceConstruct": "no arithmetic",
    "SequenceEmpty": "no arithmetic",
    "SequenceErase": "no arithmetic",
    "SequenceInsert": "no arithmetic",
    "SequenceLength": "no arithmetic",
    "SequenceMap": "a loop",
    "Shape": "no arithmetic",
    "Size": "no arithmetic",
    "SoftmaxCrossEntropyLoss": "a loss; LogSoftmax, Gather and sums",
    "SplitToSequence": "Split",
    "Upsample": "Resize since opset 10",
    "AffineGrid": "matrix products",
}
"""Operators that are not swept, and why."""


def emitted() -> frozenset[str]:
    """Return the operators of ONNX that occur in the translations."""
    return frozenset(name for path in _sources() for name in _named(path.read_text()))


def _sources() -> Iterator[Path]:
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        for root in spec.submodule_search_locations or ():
            yield from Path(root).rglob("*.py")


def _named(text: str) -> Iterator[str]:
    for one, other in _CALLS.findall(text):
        yield one or other
