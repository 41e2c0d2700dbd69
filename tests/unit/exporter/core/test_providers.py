"""The policy on execution providers, as tables; the sessions themselves are in test_session."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Precision, Provider
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.providers import (
    NAMES,
    AssignedNode,
    Fallback,
    check_obtained,
    choose_provider,
    fallbacks,
    needed,
    on_cpu,
    session_providers,
)

CPU, CUDA, TRT = (NAMES[entry] for entry in (Provider.CPU, Provider.CUDA, Provider.TENSORRT))


def nodes(*named: str) -> list[AssignedNode]:
    """Return the nodes of `Conv@CUDAExecutionProvider`, …"""
    return [AssignedNode(who, op) for op, _, who in (entry.partition("@") for entry in named)]


@pytest.mark.parametrize(
    ("provider", "precision", "words"),
    [
        pytest.param(Provider.CUDA, Precision.NATIVE, "is CUDA, but torch sees no GPU", id="CUDA"),
        pytest.param(Provider.TENSORRT, Precision.NATIVE, "is TensorRT, but torch", id="TensorRT"),
        pytest.param(Provider.CPU, Precision.BFLOAT16, "no kernels for it", id="bfloat16 on a CPU"),
        pytest.param(None, Precision.BFLOAT16, "no kernels for it", id="bfloat16 without a GPU"),
    ],
)
def test_what_cannot_run_here(provider: Provider | None, precision: Precision, words: str) -> None:
    with pytest.raises(ExportFailure, match=words) as caught:
        choose_provider(provider, cuda_available=False, precision=precision)
    assert caught.value.reason is Reason.PROVIDER_UNAVAILABLE
    assert caught.value.hint


@pytest.mark.parametrize(
    ("provider", "precision", "expected"),
    [
        pytest.param(None, Precision.BFLOAT16, Provider.CUDA, id="bfloat16 on the GPU"),
        pytest.param(Provider.TENSORRT, Precision.FLOAT16, Provider.TENSORRT, id="TensorRT"),
        pytest.param(Provider.CPU, Precision.FLOAT16, Provider.CPU, id="float16 on the CPU"),
    ],
)
def test_what_runs_on_the_cpu_of_a_gpu_machine(
    provider: Provider | None, precision: Precision, expected: Provider
) -> None:
    assert choose_provider(provider, cuda_available=True, precision=precision) is expected


def test_tensorrt_leaves_the_rest_to_cuda_and_tf32_is_off() -> None:
    assert session_providers(Provider.TENSORRT) == [(TRT, {}), (CUDA, {"use_tf32": "0"})]
    assert session_providers(Provider.CUDA) == [(CUDA, {"use_tf32": "0"})]
    assert session_providers(Provider.CPU) == [(CPU, {})]
    assert needed(Provider.TENSORRT) == (Provider.TENSORRT, Provider.CUDA)
    assert needed(Provider.CPU) == ()


@pytest.mark.parametrize(
    ("asked", "assigned", "expected", "count"),
    [
        pytest.param(Provider.CPU, nodes(f"Conv@{CPU}"), (), 0, id="nothing falls from the CPU"),
        pytest.param(Provider.CUDA, nodes(f"Conv@{CUDA}"), (), 0, id="all on CUDA"),
        pytest.param(
            Provider.CUDA,
            nodes(f"Conv@{CUDA}", f"Shape@{CPU}", f"Gather@{CPU}"),
            (Fallback("Shape", CPU, 1, True), Fallback("Gather", CPU, 1, True)),
            0,
            id="shape arithmetic is reported and harmless",
        ),
        pytest.param(
            Provider.CUDA,
            nodes(f"Conv@{CUDA}", f"Shape@{CPU}", f"Det@{CPU}", f"Det@{CPU}"),
            (Fallback("Det", CPU, 2, False), Fallback("Shape", CPU, 1, True)),
            2,
            id="computations come first and count",
        ),
        pytest.param(
            Provider.TENSORRT,
            nodes(f"Conv@{TRT}", f"TopK@{CUDA}", f"Det@{CPU}"),
            (Fallback("TopK", CUDA, 1, False), Fallback("Det", CPU, 1, False)),
            1,
            id="nodes that TensorRT leaves to CUDA are reported, not counted",
        ),
    ],
)
def test_what_ran_elsewhere(
    asked: Provider, assigned: list[AssignedNode], expected: tuple[Fallback, ...], count: int
) -> None:
    found = fallbacks(assigned, asked)
    assert found == expected
    assert on_cpu(found) == count


@pytest.mark.parametrize(
    ("asked", "assigned"),
    [
        pytest.param(Provider.CUDA, nodes(f"Conv@{CUDA}", f"Det@{CPU}"), id="one node is enough"),
        pytest.param(Provider.CUDA, nodes(f"Shape@{CPU}", f"Cast@{CPU}"), id="nothing to compute"),
        pytest.param(Provider.CUDA, [], id="nothing at all"),
        pytest.param(Provider.CPU, nodes(f"Conv@{CPU}"), id="CPU"),
    ],
)
def test_a_session_that_is_as_asked(asked: Provider, assigned: list[AssignedNode]) -> None:
    check_obtained(assigned, asked, "1.31.1")


@pytest.mark.parametrize(
    ("asked", "assigned", "words"),
    [
        (Provider.CUDA, nodes(f"Conv@{CPU}", f"Shape@{CPU}"), f"all on {CPU}: Conv x1"),
        (Provider.TENSORRT, nodes(f"TopK@{CUDA}"), f"all on {CUDA}: TopK x1"),
    ],
    ids=["on the CPU instead of CUDA", "on CUDA instead of TensorRT"],
)
def test_a_session_where_nothing_runs_as_asked(
    asked: Provider, assigned: list[AssignedNode], words: str
) -> None:
    with pytest.raises(ExportFailure, match=words) as caught:
        check_obtained(assigned, asked, "1.31.1")
    assert caught.value.reason is Reason.PROVIDER_UNAVAILABLE
