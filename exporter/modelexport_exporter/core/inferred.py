"""Values of the spec that the user did not write: what was inferred, and from what."""

from __future__ import annotations

import re

from modelexport_api.base import ApiModel

_END_OF_STEP = re.compile(r"[.\[]|$")


class Inferred(ApiModel):
    """One value of the spec that was inferred."""

    field: str
    """Its path in the spec, such as `inputs[0].shape` or `dims.seq`."""
    value: str
    source: str
    """How it was found, such as `ran at 2 and 3`."""

    def is_within(self, path: str) -> bool:
        """Return whether the field is at a path, or a part of what is there."""
        return self.field.startswith(path) and bool(_END_OF_STEP.match(self.field, len(path)))
