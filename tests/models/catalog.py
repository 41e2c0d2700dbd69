"""The models as values: factory, code, inputs, and how their checkpoint comes to be."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from models import digits, minilm

CODE = Path(__file__).parent / "code"

ROWS_OF_8 = [{"name": "x", "shape": ["batch", 8]}]
IMAGES_OF_8 = [{"name": "x", "shape": ["batch", 1, 8, 8]}]
BATCH = {"batch": {"min": 1, "max": 64}}


@dataclass(frozen=True)
class RealModel:
    """A model that a test can hand to ModelExport."""

    name: str
    factory: str
    code: Path
    """The one file of `model.code`."""
    inputs: list[dict[str, Any]]
    dims: dict[str, dict[str, int]]
    checkpoint_name: str
    write: Callable[[Path], None]
    """Write the checkpoint to this file."""
    outputs: list[str] = field(default_factory=lambda: ["y"])
    kwargs: dict[str, Any] = field(default_factory=dict)

    def checkpoint(self, directory: Path) -> Path:
        """Write the checkpoint into a directory, unless it is there; return its path."""
        path = directory / self.checkpoint_name
        if not path.exists():
            directory.mkdir(parents=True, exist_ok=True)
            self.write(path)
        return path

    def zip_code(self, target: Path) -> Path:
        """Write `model.code` as a zip file; return its path."""
        with zipfile.ZipFile(target, "w") as archive:
            archive.write(self.code, self.code.name)
        return target

    def manifest(
        self,
        source: str,
        code: str,
        destination: str,
        /,
        **spec: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        """Return a ModelExport; `spec` adds or replaces fields, such as storage or verification.

        Latency is measured only where the spec asks for it: most tests have no use for it.
        """
        verification = {"benchmark": False, **spec.pop("verification", {})}
        model = {"factory": self.factory, "kwargs": self.kwargs, "code": {"uri": code}}
        return {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": self.name.lower().replace("_", "-")},
            "spec": {
                "source": {"uri": source},
                "model": model,
                "inputs": self.inputs,
                "dims": self.dims,
                "outputs": self.outputs,
                "verification": verification,
                "destination": {"uri": destination},
                **spec,
            },
        }


def initialised(factory: Callable[[], torch.nn.Module]) -> Callable[[Path], None]:
    """Return a writer of a state_dict with initial weights, always the same."""

    def write(path: Path) -> None:
        torch.manual_seed(0)
        torch.save(factory().state_dict(), path)

    return write


def small_model(
    code: Path,
    name: str,
    *inputs: dict[str, Any],
    **dims: tuple[int, int],
) -> RealModel:
    """Return the class of that name in a file of code, with initial weights."""

    def write(path: Path) -> None:
        namespace: dict[str, Any] = {}
        exec(compile(code.read_text(), str(code), "exec"), namespace)
        initialised(namespace[name])(path)

    return RealModel(
        name=name.lower(),
        factory=f"{code.stem}:{name}",
        code=code,
        inputs=list(inputs),
        dims={dim: {"min": low, "max": high} for dim, (low, high) in dims.items()},
        checkpoint_name="model.pt",
        write=write,
        outputs=[],
    )


def _small(name: str, module: str, function: str, images: bool = False) -> RealModel:
    like = (
        (lambda: torch.nn.ModuleDict({"conv": torch.nn.Conv2d(1, 4, 3)}))
        if images
        else (lambda: torch.nn.ModuleDict({"linear": torch.nn.Linear(8, 8)}))
    )
    return RealModel(
        name=name,
        factory=f"{module}:{function}",
        code=CODE / f"{module}.py",
        inputs=IMAGES_OF_8 if images else ROWS_OF_8,
        dims=BATCH,
        checkpoint_name="checkpoint.pt",
        write=initialised(like),
    )


DIGITS = RealModel(
    name="digits",
    factory="model:build",
    code=digits.EXAMPLE / "model.py",
    inputs=[{"name": "image", "shape": ["batch", 1, 8, 8], "range": [0, 1]}],
    dims=BATCH,
    outputs=["logits"],
    checkpoint_name="checkpoint.pt",
    write=digits.write_checkpoint,
)

MINILM = RealModel(
    name="minilm",
    factory="minilm_encoder:build",
    code=CODE / "minilm_encoder.py",
    inputs=[
        {
            "name": "input_ids",
            "dtype": "int64",
            "shape": ["batch", "seq"],
            "range": [0, minilm.config()["vocab_size"] - 1],
        },
        {"name": "attention_mask", "dtype": "int64", "shape": ["batch", "seq"], "range": [0, 1]},
    ],
    dims={"batch": {"min": 1, "max": 8}, "seq": {"min": 1, "max": 128}},
    outputs=["sentence_embedding"],
    checkpoint_name="model.safetensors",
    write=minilm.write_checkpoint,
    kwargs=minilm.config(),
)

SCALED_ELU = _small("scaled-elu", "wrongly_converted", "scaled_elu")
DIVIDED_POOL = _small("divided-pool", "wrongly_converted", "divided_pool", images=True)
SINE = _small("sine", "mistranslated", "Sine")
NORMALISED = _small("normalised", "mistranslated", "Normalised")

FACTORY_RAISES = _small("factory-raises", "misbehaving", "raises")
FACTORY_EXITS = _small("factory-exits", "misbehaving", "exits")
FACTORY_EXITS_AT_ONCE = _small("factory-exits-at-once", "misbehaving", "exits_at_once")
FACTORY_CRASHES = _small("factory-crashes", "misbehaving", "crashes")
FACTORY_HANGS = _small("factory-hangs", "misbehaving", "hangs")
FACTORY_ALLOCATES = _small("factory-allocates", "misbehaving", "allocates")
FACTORY_NO_MODULE = _small("factory-no-module", "misbehaving", "no_module")
SLOW = _small("slow", "misbehaving", "slow")
RANDOM = _small("random", "misbehaving", "random")
CURIOUS = _small("curious", "curious", "build")
