"""Nodes whose kernel in onnxruntime differs from torch, written with kernels that do not."""

from modelexport_exporter.convert.exact_kernels.declared import Declared
from modelexport_exporter.convert.exact_kernels.rewrite import avoid_inexact_kernels

__all__ = ["Declared", "avoid_inexact_kernels"]
