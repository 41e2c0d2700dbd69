"""An onnxruntime session on the requested provider, or a typed failure.

onnxruntime falls back to the CPU without an error when a provider cannot be loaded. A verdict for a
GPU must not be reached on a CPU, so the provider is read back from the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_api.spec import Provider
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.foreign_messages import (
    NO_KERNEL_TO_LOAD,
    NO_KERNEL_TO_RUN,
    ONNXRUNTIME_OUT_OF_MEMORY,
)
from modelexport_exporter.core.machine import thread_count
from modelexport_exporter.core.providers import (
    NAMES,
    AssignedNode,
    check_obtained,
    needed,
    session_providers,
)
from modelexport_exporter.plugins.fall_through.hosted_nodes import TorchNodes, library_path
from modelexport_exporter.plugins.runtime import SessionSetup, UnknownOperator, unknown_operator
from modelexport_exporter.verification.runtime import missing_kernels
from modelexport_exporter.verification.runtime.cuda_libraries import missing_libraries
from modelexport_exporter.verification.runtime.feed import run_session

Array = NDArray[Any]

_ERRORS_ONLY = 3
_INVALID_HINT = "Another export.opset may avoid it."
_FIXED_HINT = (
    "Eager PyTorch runs these inputs: a size or a branch was fixed during the export. Make the "
    "code independent of sizes, or declare only sizes that are used."
)


class Session:
    """An ONNX file, loaded for one provider."""

    def __init__(
        self,
        model_path: Path,
        provider: Provider,
        *,
        prepack: bool = True,
        setup: SessionSetup | None = None,
        production: bool = False,
    ) -> None:
        """Load the file. Raises ExportFailure. `prepack=False` leaves weights mapped from the file.

        `setup`: configures the session for plugins and libraries. `production`: keep memory
        between runs, which is faster.
        """
        for entry in needed(provider):
            _require_libraries(entry)
        self._torch_nodes = TorchNodes()
        self._session = self._load(
            model_path,
            provider,
            setup or SessionSetup(),
            lambda: _options(prepack=prepack, arena=production),
        )
        self.provider = _read_back(self._session, provider)
        self.assignment = _assignment(self._session)
        """The provider of each node, after onnxruntime's first optimizations."""
        check_obtained(self.assignment, provider, onnxruntime.__version__)
        self.input_names = tuple(entry.name for entry in self._session.get_inputs())
        self.output_names = tuple(entry.name for entry in self._session.get_outputs())
        """Of the last `run`, if the file returns sequences."""
        self.output_shapes = {
            entry.name: tuple("?" if size is None else size for size in entry.shape)
            for entry in self._session.get_outputs()
            if entry.type.startswith("tensor")
        }

    def _load(
        self,
        model_path: Path,
        provider: Provider,
        setup: SessionSetup,
        plain_options: Callable[[], Any],
    ) -> Any:  # noqa: ANN401
        """Load the file; if needed and allowed, PyTorch runs operators unknown to onnxruntime."""

        def configured_options() -> Any:  # noqa: ANN401
            options = plain_options()
            setup.configure(options)
            return options

        try:
            return _open(model_path, provider, configured_options())
        except UnknownOperator:
            if setup.host is None:
                raise
        with setup.host(model_path) as (copy, self._torch_nodes):
            with_python = configured_options()
            if self._torch_nodes.names:
                with_python.register_custom_ops_library(library_path())
            return _open(copy, provider, with_python)

    def run(self, arrays: Mapping[str, Array], where: str) -> list[Array]:
        """Return the outputs for arrays by input name; names that the file lacks are ignored.

        `where`: describes the arrays in a failure's message. Raises ExportFailure.
        """
        try:
            outputs = run_session(self._session, arrays)
        except ExportFailure:
            raise
        except Exception as error:
            self._torch_nodes.raise_first(where)
            raise _run_failure(error, where) from error
        self._torch_nodes.raise_first(where)
        self.output_names = tuple(name for name, _ in outputs)
        return [array for _, array in outputs]


def _options(*, prepack: bool, arena: bool) -> Any:  # noqa: ANN401 - onnxruntime is untyped
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = _ERRORS_ONLY
    # Arenas keep the largest sample's memory, which a single verification does not reuse.
    options.enable_cpu_mem_arena = arena
    options.enable_mem_pattern = arena
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if not prepack:
        options.add_session_config_entry("session.disable_prepacking", "1")
    return options


def _open(model_path: Path, provider: Provider, options: Any) -> Any:  # noqa: ANN401
    providers = session_providers(provider)
    try:
        session = onnxruntime.InferenceSession(str(model_path), options, providers=providers)
    except Exception as error:
        text = _one_line(error)
        if _is_out_of_memory(text):
            raise _out_of_memory(text, "while loading the file") from error
        if unknown := unknown_operator(text):
            raise UnknownOperator(unknown) from error
        more, hint = "", _INVALID_HINT
        if any(sign in text for sign in NO_KERNEL_TO_LOAD):
            more, hint = missing_kernels.explain(text, model_path)
        raise ExportFailure(
            Reason.RUNTIME_FAILED,
            f"onnxruntime {onnxruntime.__version__} cannot load the exported file: {text}{more}",
            hint,
        ) from error
    session.disable_fallback()
    return session


def _read_back(session: Any, expected: Provider) -> Provider:  # noqa: ANN401
    obtained = session.get_providers()[0]
    if obtained != NAMES[expected]:
        raise ExportFailure(
            Reason.PROVIDER_UNAVAILABLE,
            f"onnxruntime runs the model on {obtained}, although {NAMES[expected]} was requested: "
            "it could not start that provider and fell back without an error",
            "Check that the node's driver is new enough for the CUDA version of onnxruntime-gpu "
            f"{onnxruntime.__version__}, or set verification.provider to {Provider.CPU.value}.",
        )
    return expected


def _assignment(session: Any) -> tuple[AssignedNode, ...]:  # noqa: ANN401
    return tuple(
        AssignedNode(part.ep_name, node.op_type, node.name)
        for part in session.get_provider_graph_assignment_info()
        for node in part.get_nodes()
    )


def _require_libraries(provider: Provider) -> None:
    offered = onnxruntime.get_available_providers()
    extra = "tensorrt" if provider is Provider.TENSORRT else "cuda,cudnn"
    if NAMES[provider] not in offered:
        raise ExportFailure(
            Reason.PROVIDER_UNAVAILABLE,
            f"onnxruntime {onnxruntime.__version__} was built without {provider.value}; it offers "
            f"{', '.join(offered)}",
            place.install("onnxruntime-gpu[cuda,cudnn] in place of onnxruntime") + ".",
        )
    missing = missing_libraries(provider.value)
    if missing:
        package = "modelexport" if provider is Provider.TENSORRT else "onnxruntime-gpu"
        raise ExportFailure(
            Reason.PROVIDER_UNAVAILABLE,
            f"onnxruntime's {provider.value} provider needs libraries that are missing: "
            f"{', '.join(missing)}",
            place.install(f"{package}[{extra}]") + "; python -m "
            "modelexport_exporter.verification.runtime.cuda_libraries checks it without a GPU.",
        )


def _run_failure(error: Exception, where: str) -> ExportFailure:
    text = _one_line(error)
    if _is_out_of_memory(text):
        return _out_of_memory(text, f"at {where}")
    return ExportFailure(
        Reason.RUNTIME_FAILED,
        f"onnxruntime {onnxruntime.__version__} fails to run the exported file at {where}: {text}",
        missing_kernels.HINT if any(sign in text for sign in NO_KERNEL_TO_RUN) else _FIXED_HINT,
    )


def _out_of_memory(text: str, where: str) -> ExportFailure:
    return ExportFailure(
        Reason.OUT_OF_MEMORY,
        f"onnxruntime ran out of memory {where}: {text}",
        "Give the process (or the GPU) more memory, or declare smaller maxima in dims.",
    )


def _is_out_of_memory(text: str) -> bool:
    return any(sign in text.lower() for sign in ONNXRUNTIME_OUT_OF_MEMORY)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:1000]
