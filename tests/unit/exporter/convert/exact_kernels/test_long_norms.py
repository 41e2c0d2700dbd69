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


def test_short_layers_stay() -> None:
    ones: Array = np.ones(768, np.float32)
    model = graph_of("LayerNormalization", [images("random", (1, 4, 768))], {1: ones, 2: ones})
    model.graph.inputs[0].shape = ir.Shape((1, 4, 768))
    avoid_inexact_kernels(model, LONG)
    assert operators(model) == ["LayerNormalization"]


@pytest.mark.parametrize("shape", [(2, 4, 8, 8), (1, 4, 64, 64), (1, 4, 700), (1, 4, 100, 130)])
@pytest.mark.parametrize(("width", "limit"), [(0.0, 2e-5), (0.01, 5e-6), (1.0, 2e-6)])
def test_short_images_around_their_mean(shape: tuple[int, ...], width: float, limit: float) -> None:
    x = (99.7312 + width * np.random.default_rng(3).standard_normal(shape)).astype(np.float32)
    scale, bias = np.linspace(0.5, 1.5, 4, dtype=np.float32), np.arange(4, dtype=np.float32)
    model = graph_of("InstanceNormalization", [x], {1: scale, 2: bias}, epsilon=1e-4)
    sizes = {f"d{at}": size for at, size in enumerate(shape[2:])}
    model.graph.inputs[0].shape = ir.Shape(["n", 4, *sizes])
    before = run(model, [x])
    avoid_inexact_kernels(model, Declared(largest=sizes))
    once = operators(model)
    avoid_inexact_kernels(model, Declared(largest=sizes))
    assert operators(model) == once
    assert once[-2:] == ["Sub", "InstanceNormalization"]
    want = functional.instance_norm(
        torch.from_numpy(x).double(),
        weight=torch.from_numpy(scale).double(),
        bias=torch.from_numpy(bias).double(),
        eps=1e-4,
    ).numpy()
    assert np.abs(run(model, [x]) - want).max() < limit
    if width == 0.01:
        assert np.abs(before - want).max() > 20 * limit
