"""Normalisations of many numbers are as exact as torch's."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
import torch
from torch.nn import functional

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from modelexport_exporter.sampling.draw import Array
from unit.exporter.convert.exact_kernels.graphs import graph_of, operators, run

LONG = Declared(largest={"t": 10**6})
SHAPES = [(2, 4, 300, 400), (1, 4, 200000), (1, 4, 8, 50, 60)]


def images(kind: str, shape: tuple[int, ...]) -> Array:
    if kind == "constant":
        return np.full(shape, 0.7312, np.float32)
    generator = np.random.default_rng(1)
    return generator.random(shape, np.float32) * np.float32(3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "limit"), [("constant", 5e-4), ("random", 5e-6)])
def test_images(shape: tuple[int, ...], kind: str, limit: float) -> None:
    x = images(kind, shape)
    scale, bias = np.linspace(0.5, 1.5, 4, dtype=np.float32), np.arange(4, dtype=np.float32)
    model = graph_of("InstanceNormalization", [x], {1: scale, 2: bias})
    model.graph.inputs[0].shape = ir.Shape(shape)
    before = run(model, [x])
    avoid_inexact_kernels(model, LONG)
    want = functional.instance_norm(
        torch.from_numpy(x), weight=torch.from_numpy(scale), bias=torch.from_numpy(bias)
    ).numpy()
    have = run(model, [x])
    assert have.shape == want.shape
    assert np.abs(have - want).max() < limit
    if kind == "constant":
        assert np.abs(before - want).max() > 2 * np.abs(have - want).max()


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("kind", "limit"), [("constant", 5e-4), ("random", 5e-6)])
def test_layers(biased: bool, kind: str, limit: float) -> None:
    x = images(kind, (2, 3, 128, 130))
    scale = np.random.default_rng(2).random((3, 128, 130), np.float32)
    constants = {1: scale, **({2: scale[::-1].copy()} if biased else {})}
    model = graph_of("LayerNormalization", [x], constants, axis=-3)
    model.graph.inputs[0].shape = ir.Shape(x.shape)
    avoid_inexact_kernels(model, LONG)
    assert "LayerNormalization" not in operators(model)
    bias = torch.from_numpy(constants[2]) if biased else None
    want = functional.layer_norm(
        torch.from_numpy(x), scale.shape, torch.from_numpy(scale), bias
    ).numpy()
    assert np.abs(run(model, [x]) - want).max() < limit


@pytest.mark.parametrize(
    ("operator", "shape"),
    [("InstanceNormalization", (1, 4, 64, 64)), ("LayerNormalization", (1, 4, 768))],
)
def test_short_ones_stay(operator: str, shape: tuple[int, ...]) -> None:
    width = shape[1] if operator == "InstanceNormalization" else shape[-1]
    ones: Array = np.ones(width, np.float32)
    model = graph_of(operator, [images("random", shape)], {1: ones, 2: ones})
    model.graph.inputs[0].shape = ir.Shape(shape)
    avoid_inexact_kernels(model, LONG)
    assert operators(model) == [operator]
