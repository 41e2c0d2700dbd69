"""Which execution provider runs a model, what it needs, and where its nodes actually ran: pure.

onnxruntime falls back to the CPU without an error, for a whole session if a provider cannot be
loaded, and for each node that a provider has no kernel for. Both are reported; a session that runs
only shape arithmetic on the requested provider is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.spec import Precision, Provider
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure

NAMES: dict[Provider, str] = {
    Provider.TENSORRT: "TensorrtExecutionProvider",
    Provider.CUDA: "CUDAExecutionProvider",
    Provider.CPU: "CPUExecutionProvider",
}
GPU = frozenset({Provider.CUDA, Provider.TENSORRT})
TF32_OFF = ("NVIDIA_TF32_OVERRIDE", "0")
"""What switches TF32 off in every NVIDIA library of a process, read when it is loaded. TensorRT has
no option of its own for it. Eager runs with TF32 off too: it rounds to 10 bits, which would hide
what is verified."""

_OPTIONS: dict[Provider, dict[str, str]] = {
    Provider.TENSORRT: {},
    Provider.CUDA: {"use_tf32": "0"},
    Provider.CPU: {},
}
_BEHIND: dict[Provider, tuple[Provider, ...]] = {
    Provider.TENSORRT: (Provider.TENSORRT, Provider.CUDA),
    Provider.CUDA: (Provider.CUDA,),
    Provider.CPU: (Provider.CPU,),
}
"""In order: TensorRT takes subgraphs and leaves to CUDA what it does not know."""

SHAPE_ARITHMETIC = frozenset(
    {"Shape", "Size", "Gather", "Unsqueeze", "Squeeze", "Concat", "Slice", "Cast", "Range", "Add"}
    | {"Sub", "Mul", "Div", "Mod", "Reshape", "ConstantOfShape", "Constant", "Equal", "Where"}
    | {"Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Min", "Max", "Not", "And", "Or"}
    | {"ReduceProd", "Split", "Identity", "SequenceAt", "SequenceConstruct", "SequenceLength"}
)
"""What the CUDA provider leaves on the CPU on purpose where it computes a shape: a few integers,
needed there. Such a node may also be a computation without a kernel, but then what feeds it or
follows it is one too, or it is too small to matter."""


@dataclass(frozen=True)
class AssignedNode:
    """A node after onnxruntime's first optimizations, and who runs it."""

    provider: str
    op: str
    name: str = ""


@dataclass(frozen=True)
class Fallback:
    """Nodes of one operator that ran on another provider than the one that was asked for."""

    op: str
    provider: str
    nodes: int
    shapes_only: bool
    """Whether it is arithmetic on shapes, which belongs on the CPU."""


def wanted_provider(requested: Provider | None, cuda_available: bool) -> Provider:
    """Return the requested provider, or CUDA where torch sees a GPU, otherwise CPU."""
    return requested or (Provider.CUDA if cuda_available else Provider.CPU)


def choose_provider(
    requested: Provider | None,
    cuda_available: bool,
    precision: Precision = Precision.NATIVE,
) -> Provider:
    """Return the wanted provider. Raises ExportFailure without its GPU or its kernels."""
    chosen = wanted_provider(requested, cuda_available)
    if chosen in GPU and not cuda_available:
        raise ExportFailure(
            Reason.PROVIDER_UNAVAILABLE,
            f"verification.provider is {chosen.value}, but torch sees no GPU",
            (
                "Request one in podTemplate (resources.limits: nvidia.com/gpu: 1), on nodes with "
                "the NVIDIA driver and container runtime"
                if place.in_pod()
                else "Use a machine with an NVIDIA GPU and its driver, and a torch built for CUDA"
            )
            + "; or set verification.provider to CPU.",
        )
    if chosen is Provider.CPU and precision is Precision.BFLOAT16:
        raise ExportFailure(
            Reason.PROVIDER_UNAVAILABLE,
            "export.precision is BFloat16, and onnxruntime's CPU provider has no kernels for it "
            "(not even Add, MatMul or Relu)",
            "Verify on a GPU (verification.provider: CUDA), or set export.precision to Float16.",
        )
    return chosen


def session_providers(provider: Provider) -> list[tuple[str, dict[str, str]]]:
    """Return what a session is opened with."""
    return [(NAMES[entry], _OPTIONS[entry]) for entry in _BEHIND[provider]]


def needed(provider: Provider) -> tuple[Provider, ...]:
    """Return the providers whose libraries have to be there."""
    return tuple(entry for entry in _BEHIND[provider] if entry in GPU)


def fallbacks(nodes: Iterable[AssignedNode], asked: Provider) -> tuple[Fallback, ...]:
    """Return what did not run where it was asked to, computations first, the most frequent first.

    Nodes that TensorRT leaves to CUDA are reported, too.
    """
    elsewhere = Counter((node.op, node.provider) for node in nodes if node.provider != NAMES[asked])
    found = [
        Fallback(op, provider, count, op in SHAPE_ARITHMETIC)
        for (op, provider), count in elsewhere.most_common()
    ]
    return tuple(sorted(found, key=lambda entry: entry.shapes_only))


def on_cpu(found: Sequence[Fallback]) -> int:
    """Return how many computing nodes ran on the CPU although another provider was asked for."""
    cpu = NAMES[Provider.CPU]
    return sum(item.nodes for item in found if item.provider == cpu and not item.shapes_only)


def check_obtained(nodes: Sequence[AssignedNode], asked: Provider, version: str) -> None:
    """Refuse a session whose computing nodes all run elsewhere. A model may have none."""
    computing = [node for node in nodes if node.op not in SHAPE_ARITHMETIC]
    if not computing or any(node.provider == NAMES[asked] for node in computing):
        return
    counts = Counter(node.op for node in computing)
    ops = ", ".join(f"{op} x{count}" for op, count in counts.most_common(8))
    instead = ", ".join(sorted({node.provider for node in computing}))
    raise ExportFailure(
        Reason.PROVIDER_UNAVAILABLE,
        f"verification.provider is {asked.value}, and onnxruntime {version} runs none of the "
        f"model's computations on it but all on {instead}: {ops}",
        "The provider has no kernels for these operators in their element types. Choose another "
        "export.precision or export.opset, or another verification.provider.",
    )
