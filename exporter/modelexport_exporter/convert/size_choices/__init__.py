"""What a model's code chooses by a condition on sizes, as arithmetic: one graph for both sides."""

from __future__ import annotations

from modelexport_exporter.convert.size_choices.functions import (
    choices_as_arithmetic,
    speak_of_values,
)

__all__ = ["choices_as_arithmetic", "speak_of_values"]
