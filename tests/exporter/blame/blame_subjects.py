"""Models whose files are damaged, and a search on the damaged file without the stages around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
import torchvision
from numpy.typing import NDArray

from modelexport_api.spec import Provider
from modelexport_exporter.blame.fingerprint import error_of
from modelexport_exporter.blame.record_onnx import Runtime
from modelexport_exporter.blame.search import Suspect, find_blame
from modelexport_exporter.call import Call, bind_inputs, flatten
from modelexport_exporter.call.tensors import to_array, to_tensor
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import Rung
from modelexport_exporter.plugins.plugins import Plugins, load_plugins
from modelexport_exporter.sampling.draw import draw
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.verification.samples.sizes import plan_samples
from modelexport_exporter.workers.export import export_model
from models import catalog
from models.catalog import CODE, RealModel
from models.exporting import silent, task_for

Array = NDArray[Any]
TOLERANCE = 1e-4
IMAGES = [{"name": "x", "shape": ["batch", 3, 8, 8]}]
ROWS = [{"name": "x", "shape": ["batch", 8]}]
TOKENS = [{"name": "tokens", "dtype": "int64", "shape": ["batch", "seq"], "range": [0, 39]}]
STATES = [{"name": "x", "shape": ["batch", "seq", 16]}]
BATCH = {"batch": {"min": 2, "max": 5}}
TEXT = {**BATCH, "seq": {"min": 5, "max": 9}}


def settled(module: torch.nn.Module) -> None:
    """Give statistics and biases values that are not trivial."""
    with torch.no_grad():
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(std=0.5)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 2.0)
        for parameter in module.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)


def subject(
    name: str,
    inputs: list[dict[str, Any]],
    dims: dict[str, dict[str, int]],
    **kwargs: Any,  # noqa: ANN401
) -> RealModel:
    """Return a model of models/code/blamed.py."""

    def write(path: Path) -> None:
        from models.code import blamed

        torch.manual_seed(0)
        module = getattr(blamed, name)(**kwargs)
        settled(module)
        torch.save(module.state_dict(), path)

    return RealModel(
        name="-".join([name.lower(), *(str(value).lower() for value in kwargs.values())]),
        factory=f"blamed:{name}",
        code=CODE / "blamed.py",
        inputs=inputs,
        dims=dims,
        checkpoint_name="checkpoint.pt",
        write=write,
        kwargs=kwargs,
    )


def _write_resnet(path: Path) -> None:
    torch.manual_seed(0)
    module = torchvision.models.resnet18()
    settled(module)
    torch.save(module.state_dict(), path)


CONV_NET = subject("ConvNet", IMAGES, BATCH)
RESIDUAL = subject("Residual", IMAGES, BATCH)
DECODER = subject("Decoder", TOKENS, TEXT)
ENCODER = subject("Encoder", STATES, TEXT)
LSTM = subject("Tagger", TOKENS, TEXT)
GRU = subject("Tagger", TOKENS, TEXT, kind="GRU")
UNET = subject("UNet", IMAGES, BATCH)
GATED = subject("Gated", IMAGES, BATCH)
MIXTURE = subject("Mixture", ROWS, BATCH)
LOOP = subject("Loop", ROWS, BATCH)
RESNET = replace(
    catalog.DIVIDED_POOL,
    name="resnet18",
    factory="torchvision.models:resnet18",
    inputs=[{"name": "x", "shape": ["batch", 3, 40, 40]}],
    dims={"batch": {"min": 1, "max": 3}},
    write=_write_resnet,
)
SUBJECTS = (
    *(CONV_NET, RESIDUAL, DECODER, ENCODER, LSTM, GRU, UNET, GATED, MIXTURE),
    *(RESNET, catalog.MINILM),
)


@dataclass(frozen=True)
class Exported:
    """A file that is right, with what is needed to search a damaged copy of it."""

    path: Path
    model: onnx.ModelProto
    module: torch.nn.Module
    call: Call
    plugins: Plugins
    arrays: dict[str, Array]
    expected: list[Array]
    code_dir: Path | None

    def difference(self, damaged: onnx.ModelProto) -> float | None:
        """Return how far a damaged file is off; None where onnxruntime refuses it."""
        onnx.save(damaged, self.path)
        try:
            session = Session(self.path, Provider.CPU, setup=self.plugins.session_setup())
            got = session.run(self.arrays, "")
        except ExportFailure:
            return None
        return max(error_of(want, have) for want, have in zip(self.expected, got, strict=True))

    def blame(self, damaged: onnx.ModelProto, runtime: Runtime | None = None) -> Blame:
        """Return what the search finds in a damaged file."""
        onnx.save(damaged, self.path)
        return find_blame(
            Suspect(
                module=self.module,
                call=self.call,
                device="cpu",
                code_dir=self.code_dir,
                path=self.path,
                runtime=runtime or Runtime(Provider.CPU, self.plugins.session_setup()),
                arrays=self.arrays,
                weights={},
                limits=[TOLERANCE * max(1e-6, float(np.abs(item).max())) for item in self.expected],
            )
        )


def exported(model: RealModel, directory: Path, rung: Rung, **spec: Any) -> Exported:  # noqa: ANN401
    """Export a model on a rung, as the product does."""
    task = replace(task_for(model, directory, **spec), rung=rung)
    path = export_model(task, silent).model_path
    plugins = load_plugins(task, silent)
    module = load_module(task).module
    bound_inputs = bind_inputs(task.spec, module, task.code_dir)
    arrays = draw(bound_inputs.spec.inputs, plan_samples(bound_inputs.spec)[0])
    args, kwargs = bound_inputs.call.arguments({name: to_tensor(a) for name, a in arrays.items()})
    with torch.no_grad():
        expected = [to_array(leaf) for leaf in flatten(module(*args, **kwargs))]
    return Exported(
        path, onnx.load(path), module, bound_inputs.call, plugins, arrays, expected, task.code_dir
    )


def line_of(text: str, source: Path = CODE / "blamed.py") -> str:
    """Return `file:line` of the one line that holds the text."""
    lines = [at for at, line in enumerate(_lines(source), 1) if text in line]
    assert len(lines) == 1, f"{text} is on lines {lines}"
    return f"{source.name}:{lines[0]}"


def _lines(source: Path) -> Iterator[str]:
    yield from source.read_text().splitlines()
