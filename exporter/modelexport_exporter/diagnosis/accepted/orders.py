"""Inputs that are declared in another order than forward has its parameters: found by calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations

import torch

from modelexport_exporter.diagnosis.accepted.limits import Limit

Values = Mapping[str, torch.Tensor]
_MOST = 4
"""Inputs, of which all orders are tried."""


def limits_of_order(accepts: Callable[[Values], bool], values: Values) -> list[Limit]:
    """Return the order of the inputs with which a call is accepted; empty if none is found.

    `accepts` may raise to end the search.
    """
    names = list(values)
    if len(names) > _MOST:
        return []
    for order in permutations(names):
        given = {name: values[own] for name, own in zip(names, order, strict=True)}
        if list(order) != names and accepts(given):
            return [
                Limit(
                    f"the inputs in the order {', '.join(order)}",
                    "List the inputs in this order, or name each as the parameter of forward that "
                    "it is for.",
                )
            ]
    return []
