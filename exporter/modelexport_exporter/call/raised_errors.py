"""What to do about an error that forward raised, by its kind."""

from __future__ import annotations

from modelexport_exporter.core import place
from modelexport_exporter.core.foreign_messages import NO_GPU
from modelexport_exporter.core.user_frame import text_of

_DEFECTS = (AttributeError, NameError, NotImplementedError)
"""They are raised whatever the inputs are."""


def way_out(error: BaseException, of_inputs: str) -> str:
    """Return a hint; `of_inputs`: the one for an error that other inputs may avoid."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return place.add_library(error.name)
    if isinstance(error, _DEFECTS):
        return "Correct this line of the model: it fails whatever the inputs are."
    if any(words in text_of(error) for words in NO_GPU):
        return (
            "Take the device from the inputs (device=x.device), without .cuda(): the export runs "
            "on the CPU."
        )
    return of_inputs
