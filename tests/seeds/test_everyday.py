"""Small networks of many operators, each with the opsets and routes that people ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from seeds.case import Case, integers, refused, tensor
from seeds.harness import Bench, each

FEW = {"n": (1, 12)}


@dataclass(frozen=True)
class Network:
    """A model of code/everyday.py, and the rows whose operators it has."""

    rows: str
    name: str
    inputs: tuple[Mapping[str, Any], ...]
    dims: Mapping[str, tuple[int, int]] = field(default_factory=lambda: FEW)
    oldest: int = 9
    """Of its operators; Equal, for one, takes floats since opset 11."""


X, Y = tensor("x", "n", 4), tensor("y", "n", 4)
NETWORKS = (
    Network(
        "A7 A18 A19 A20 A21 A22 A23 A29",
        "Attention",
        (tensor("x", "n", "time", 12),),
        {**FEW, "time": (1, 20)},
        oldest=11,
    ),
    Network("A25 A26 A27 A28 A30 A33 A34 A43 A44", "GatedConvolution", (tensor("x", "n", 4, 11),)),
    Network(
        "A1 A2 A3 A4 A5 A9 A10 A11 A12 A15 A16 A17 A36 A37", "Normalised", (tensor("x", "n", 6),)
    ),
    Network(
        "A6 A41 A42",
        "Geometry",
        (tensor("points", "n", "many", 2), tensor("angle", "n", low=-3, high=3)),
        {**FEW, "many": (1, 20)},
        oldest=11,
    ),
    Network("A24 A35 A38 A39 A40 A53", "Chooser", (X, Y), oldest=11),
    Network(
        "A31 A45 A46 A47 A50 A52 A55",
        "Pyramid",
        (tensor("image", "n", 3, "h", "w"),),
        {"n": (1, 5), "h": (8, 20), "w": (8, 20)},
        oldest=11,
    ),
    Network(
        "A8 A48 A49",
        "Sentences",
        (integers("words", "n", "time", high=11),),
        {**FEW, "time": (1, 20)},
    ),
    Network("A4 A5 A13 A14 A54 A57", "Mixture", (X, integers("count", "n", 4, low=-5, high=5))),
)


def variants(network: Network) -> Iterator[Case]:
    """Yield the network as it is, traced, and at opsets old and new."""
    exports: dict[str, dict[str, Any]] = {
        "": {},
        "_traced": {"exporter": "TorchScript"},
        "_opset_oldest": {"opset": network.oldest},
        **{f"_opset_{opset}": {"opset": opset} for opset in (13, 17, 23)},
    }
    for suffix, export in exports.items():
        yield Case(
            network.rows,
            f"everyday_{network.name.lower()}{suffix}",
            f"everyday:{network.name}",
            network.inputs,
            network.dims,
            export=export,
            edges=(),
            nightly=bool(suffix),
        )


WITHOUT_KERNEL = {
    ("GatedConvolution", "float64"): refused(Reason.RUNTIME_FAILED, words=["Conv"]),
    ("Pyramid", "float64"): refused(Reason.RUNTIME_FAILED, words=["Conv"]),
    ("Sentences", "float64"): refused(Reason.RUNTIME_FAILED, words=["LSTM", "double"]),
    # onnxruntime fuses x / sqrt(mean(x²) + 1e-3) to a normalisation whose epsilon is 1e-5.
    ("Normalised", "float64"): refused(Reason.VERIFICATION_FAILED),
}
"""What onnxruntime cannot run in double precision, or runs otherwise; the exporter is right."""


def of_dtype(network: Network, dtype: str) -> Case:
    """Return the network in another precision."""
    floats = ("float32", dtype)
    return Case(
        f"{network.rows} A57",
        f"everyday_{network.name.lower()}_{dtype}",
        "everyday:of_dtype",
        tuple(
            {**entry, "dtype": dict([floats]).get(entry["dtype"], entry["dtype"])}
            for entry in network.inputs
        ),
        network.dims,
        {"name": network.name, "dtype": dtype},
        edges=(),
        rtol={"float64": 1e-7}.get(dtype, 1e-4),
        nightly=True,
        or_refused=WITHOUT_KERNEL.get((network.name, dtype)),
    )


CASES = tuple(case for network in NETWORKS for case in variants(network))
PRECISIONS = tuple(
    of_dtype(network, dtype)
    for network in NETWORKS
    for dtype in ("float64", "float16")
    if dtype == "float64" or network.name in {"Attention", "GatedConvolution", "Chooser"}
)


@pytest.mark.parametrize("case", each((*CASES, *PRECISIONS)))
def test_network(case: Case, bench: Bench) -> None:
    bench.check(case)
