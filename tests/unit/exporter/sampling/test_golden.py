from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.sampling.golden import read_golden

SPEC = ModelExportSpec.model_validate(
    {
        "source": {"uri": "file:///c.pt"},
        "inputs": [
            {"name": "x", "shape": ["batch", 3]},
            {"name": "mask", "dtype": "int64", "shape": ["batch"]},
        ],
        "dims": {"batch": {"min": 1, "max": 8}},
        "outputs": ["y"],
        "destination": {"uri": "file:///out/"},
    }
)
X, MASK, Y = np.zeros((2, 3), np.float32), np.zeros(2, np.int64), np.ones((2, 4), np.float32)


def npz(tmp_path: Path, **arrays: NDArray[np.generic]) -> Path:
    path = tmp_path / "golden.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def test_a_single_sample_without_prefix(tmp_path: Path) -> None:
    (golden,) = read_golden(npz(tmp_path, x=X, mask=MASK, y=Y), SPEC)
    assert (golden.name, golden.dims) == ("", {"batch": 2})
    assert set(golden.inputs) == {"x", "mask"}
    assert set(golden.outputs) == {"y"}


def test_samples_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    arrays = {
        f"{place}/{name}": array for place in (10, 9) for name, array in (("x", X), ("mask", MASK))
    }
    assert [golden.name for golden in read_golden(npz(tmp_path, **arrays), SPEC)] == ["9", "10"]


def test_safetensors_hold_bfloat16(tmp_path: Path) -> None:
    wire = SPEC.to_wire()
    wire["inputs"][0]["dtype"] = "bfloat16"
    spec = ModelExportSpec.model_validate(wire)
    path = tmp_path / "golden.safetensors"
    save_file({"x": torch.ones(2, 3, dtype=torch.bfloat16), "mask": torch.zeros(2).long()}, path)
    (golden,) = read_golden(path, spec)
    assert golden.inputs["x"].dtype.name == "bfloat16"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        pytest.param({"x": X}, "has no array for mask; it has x", id="missing"),
        pytest.param(
            {"x": X.astype(np.float64), "mask": MASK},
            r"x is float64 \\[2, 3\\], declared is float32 \\[batch, 3\\]",
            id="dtype",
        ),
        pytest.param({"x": X[0], "mask": MASK}, r"x is float32 \\[3\\], declared", id="rank"),
        pytest.param({"x": X[:, :2], "mask": MASK}, "dim 1 is declared as 3", id="size"),
        pytest.param(
            {"x": np.zeros((9, 3), np.float32), "mask": np.zeros(9, np.int64)},
            "dim 0 is declared as batch, 1..8",
            id="beyond the declared sizes",
        ),
        pytest.param({"x": X, "mask": MASK[:1]}, r"batch, 1..8 \(2 elsewhere\)", id="two sizes"),
        pytest.param({"x": X, "mask": MASK, "z": Y}, "neither inputs nor outputs: z", id="unknown"),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, arrays: dict[str, NDArray[np.generic]], message: str
) -> None:
    with pytest.raises(ExportFailure, match=message.replace("\\\\", "\\")) as caught:
        read_golden(npz(tmp_path, **arrays), SPEC)
    assert caught.value.reason is Reason.SAMPLES_INVALID


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("golden.npz", b"no zip", "cannot be read as .npz"),
        ("golden.safetensors", b"x", "cannot be read as .safetensors"),
        ("golden.csv", b"1,2", "neither .npz nor .safetensors"),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ExportFailure, match=message):
        read_golden(path, SPEC)


def test_pickles_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "golden.npz"
    np.savez(path, x=np.array([object()]))
    with pytest.raises(ExportFailure, match="cannot be read"):
        read_golden(path, SPEC)


@pytest.mark.parametrize(
    ("x", "gaps", "said"),
    [
        pytest.param((4,), (3,), "", id="fits"),
        pytest.param((4,), (4,), "dim 0 is declared as n - 1, 0..7 (3 elsewhere)", id="another n"),
        pytest.param((9,), (8,), "dim 0 is declared as n, 1..8", id="outside of the range"),
    ],
)
def test_a_size_that_follows_from_a_dim(
    x: tuple[int], gaps: tuple[int], said: str, tmp_path: Path
) -> None:
    wire = SPEC.to_wire()
    wire["inputs"] = [{"name": "x", "shape": ["n"]}, {"name": "gaps", "shape": ["n - 1"]}]
    wire["dims"] = {"n": {"min": 1, "max": 8}}
    spec = ModelExportSpec.model_validate(wire)
    path = npz(tmp_path, x=np.zeros(x, np.float32), gaps=np.zeros(gaps, np.float32))
    if not said:
        assert read_golden(path, spec)[0].dims == {"n": 4}
        return
    with pytest.raises(ExportFailure) as raised:
        read_golden(path, spec)
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("both", "said"),
    [((7,), ""), ((6,), "dim 0 is declared as past + new, 1..16 (7 elsewhere)")],
    ids=["fits", "another sum"],
)
def test_a_sum_of_dims(both: tuple[int], said: str, tmp_path: Path) -> None:
    wire = SPEC.to_wire()
    shapes = {"mask": "past + new", "x": "past", "y": "new"}  # before its parts, too
    wire["inputs"] = [{"name": name, "shape": [size]} for name, size in shapes.items()]
    wire["dims"] = {"past": {"min": 0, "max": 8}, "new": {"min": 1, "max": 8}}
    spec = ModelExportSpec.model_validate(wire)
    sizes = {"mask": both, "x": (4,), "y": (3,)}
    path = npz(tmp_path, **{name: np.zeros(size, np.float32) for name, size in sizes.items()})
    if not said:
        assert read_golden(path, spec)[0].dims == {"past": 4, "new": 3}
        return
    with pytest.raises(ExportFailure) as raised:
        read_golden(path, spec)
    assert said in raised.value.message
