"""Parts of a model that draw random numbers because they are in train mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind

_RANDOM = (
    torch.nn.Dropout,
    torch.nn.Dropout1d,
    torch.nn.Dropout2d,
    torch.nn.Dropout3d,
    torch.nn.AlphaDropout,
    torch.nn.FeatureAlphaDropout,
    torch.nn.RReLU,
)
_LISTED = 2


def drawing_in_train_mode(
    model: torch.nn.Module, settles: Callable[[], bool], *, declared: bool
) -> Pitfall | None:
    """Return that parts in train mode draw random numbers; None if it is not they.

    `settles`: runs the model, whose outputs differed, and returns whether they agree now.
    `declared`: whether the user declares that the model is in train mode.
    """
    training = {name: part for name, part in model.named_modules() if part.training}
    random = [name for name, part in training.items() if _is_random(part)]
    if declared:
        return _of_declared(random) if random else None
    if not training:
        return None
    with _in_eval_mode(training.values()):
        settled = settles()
    if settled:
        leaves = [name for name, part in training.items() if not any(part.children())]
        names = random or leaves or [*training]
        return _of_override(names, _override(model, names[0]))
    return _of_forward(random) if random else None


def _is_random(part: torch.nn.Module) -> bool:
    return isinstance(part, _RANDOM) and bool(getattr(part, "p", 1.0))


@contextmanager
def _in_eval_mode(parts: Iterable[torch.nn.Module]) -> Iterator[None]:
    parts = list(parts)
    for part in parts:
        part.training = False
    try:
        yield
    finally:
        for part in parts:
            part.training = True


def _override(model: torch.nn.Module, name: str) -> str:
    """Return `train() of Net`: the method around a part that decides its mode; empty if none."""
    steps = name.split(".") if name else []
    for count in range(len(steps) + 1):
        part = model.get_submodule(".".join(steps[:count]))
        for method in ("eval", "train"):
            own = getattr(getattr(part, method), "__func__", None)
            if own is not getattr(torch.nn.Module, method):
                return f"{method}() of {type(part).__name__}"
    return ""


def _of_declared(names: Sequence[str]) -> Pitfall:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return Pitfall(
        PitfallKind.NOT_DETERMINISTIC,
        f"the dropout layer {names[0]}{more} is in train mode and draws random numbers",
        "",
        "Leave out model.training, so that the model is exported in eval mode.",
    )


def _of_override(names: Sequence[str], override: str) -> Pitfall:
    return Pitfall(
        PitfallKind.NOT_DETERMINISTIC,
        _drawn_by(names, f"{override} sets it" if override else ""),
        "",
        (f"In {override}, call super() alone" if override else "Set the mode of all parts")
        + " for an export, so that eval() reaches each part. To keep the random passes, take their "
        "noise as an input of forward.",
    )


def _of_forward(names: Sequence[str]) -> Pitfall:
    return Pitfall(
        PitfallKind.NOT_DETERMINISTIC,
        _drawn_by(names, "forward sets it"),
        "",
        "Leave .train() and .training = True out of forward. To keep the random passes, take their "
        "noise as an input of forward.",
    )


def _drawn_by(names: Sequence[str], reason: str) -> str:
    """Return `net.2 and net.5 are in train mode after eval() (…), and draw random numbers`."""
    listed = [name or "the model" for name in names[:_LISTED]]
    if len(names) > _LISTED:
        listed.append(f"{len(names) - _LISTED} more")
    named = " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))
    is_, draws = ("is", "draws") if len(names) == 1 else ("are", "draw")
    because = f" ({reason})" if reason else ""
    return f"{named} {is_} in train mode after eval(){because}, and {draws} random numbers"
