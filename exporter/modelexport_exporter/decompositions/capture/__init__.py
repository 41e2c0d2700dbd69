"""Calls that torch.export cannot capture, or captures with fixed sizes, and their replacements."""

from __future__ import annotations

from modelexport_exporter.decompositions.capture import calls, convolutions, pools, recurrent

CALLS = {**calls.CALLS, **convolutions.CALLS, **pools.CALLS, **recurrent.CALLS}
"""From a function of torch to its operator's name and what is called in its place."""
