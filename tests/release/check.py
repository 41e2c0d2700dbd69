"""Whether a release is what it says: its sums, and its provenance against the commit it names."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from release import build, source, statement, sums
from release.errors import ReleaseError


def check(repository: Path, dist: Path) -> str:
    """Return the commit that DIST was built from; raise if anything differs."""
    for name in (sums.NAME, statement.NAME):
        if not (dist / name).is_file():
            raise ReleaseError("ReleaseIncomplete", f"{dist} has no {name}; run `make release`")
    found = sums.of(dist, without=[sums.NAME])
    _same("SumsDiffer", sums.parse((dist / sums.NAME).read_text()), found)
    said = json.loads((dist / statement.NAME).read_text())
    files = {name: digest for name, digest in found.items() if name != statement.NAME}
    _same("ProvenanceDiffers", statement.subjects(said), files)
    commit = statement.commit(said)
    with tempfile.TemporaryDirectory(prefix="modelexport-release-") as work:
        checkout = source.export(repository, Path(work), commit)
        _same("ProvenanceDiffers", statement.materials(said), build.inputs(checkout.root))
    return commit


def _same(reason: str, said: dict[str, str], found: dict[str, str]) -> None:
    if differences := sums.differences(said, found):
        raise ReleaseError(reason, "; ".join(differences))
