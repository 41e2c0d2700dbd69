"""Names in the pickle `.metadata` of torch.distributed.checkpoint.

Every checkpoint of that format names them, so a restricted unpickler has to know them.
"""

from __future__ import annotations

import torch
from torch.distributed.checkpoint import filesystem, metadata

StorageInfo = filesystem._StorageInfo  # noqa: SLF001
MemoryFormatEncoding = metadata._MEM_FORMAT_ENCODING  # noqa: SLF001
layout_by_name = torch.serialization._get_layout  # noqa: SLF001
"""Return torch.strided for "torch.strided"."""
layout_global = ("torch.serialization", "_get_layout")
"""The module and the name under which a pickle asks for it."""
