"""The image that images are built on, as the user names it: always by digest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from release import layouts
from release.errors import ReleaseError

_PINNED = re.compile(r"[\w.\-:/]+@(?P<digest>sha256:[0-9a-f]{64})")
_GIVE = (
    "Give BASE=NAME@sha256:…, an OCI layout's directory or its archive, of an image with "
    "Python >= 3.11, its venv module and CA certificates"
)


@dataclass(frozen=True)
class Base:
    """An image whose content is fixed."""

    source: str
    """In the words of containers-transports(5)."""
    digest: str

    @property
    def name(self) -> str:
        """What it is called while images are built: it ends up in their history."""
        return f"localhost/base:{self.digest.removeprefix('sha256:')}"


def of(text: str) -> Base:
    """Read what the user gave as BASE."""
    if not text:
        raise ReleaseError(
            "BaseMissing",
            f"images are built on an image that you choose. {_GIVE}; or leave images out of PARTS",
        )
    if (path := Path(text)).exists():
        transport = "oci" if path.is_dir() else "oci-archive"
        return Base(f"{transport}:{path.resolve()}", layouts.digest(path))
    if pinned := _PINNED.fullmatch(text):
        return Base(f"docker://{text}", pinned["digest"])
    raise ReleaseError(
        "BaseNotPinned",
        f"BASE={text} is neither a file here nor a name with a digest, and a name alone may mean "
        f"another image tomorrow. {_GIVE}",
    )
