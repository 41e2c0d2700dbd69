"""Build the parts of a release into one directory, which appears when it is whole."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import yaml

from bed import golang, places, versions
from release import base as bases
from release import chart, images, layouts, locks, notices, sbom, source, statement, sums, wheel
from release.archives import encoded
from release.base import Base
from release.errors import ReleaseError
from release.source import Source

LOCKS = images.TARGETS
"""Images by the name of their lock."""
VALUES = "values-images.yaml"
_INPUTS = ("Dockerfile", "pyproject.toml", "charts/modelexport/Chart.yaml", "requirements")


@dataclass(frozen=True)
class Place:
    """Where a part finds its sources, and leaves what it made."""

    source: Source
    dist: Path
    work: Path
    chosen: Images | None


@dataclass(frozen=True)
class Images:
    """Which images are built, on what, and by which buildah."""

    base: Base
    targets: Sequence[str]
    buildah: str


def build(
    repository: Path,
    dist: Path,
    parts: Sequence[str],
    revision: str = "HEAD",
    *,
    base: str = "",
    targets: Sequence[str] = images.TARGETS,
) -> None:
    """Replace DIST by a release of REVISION that consists of PARTS; images are built on BASE."""
    if unknown := sorted(set(parts) - PARTS.keys()):
        known = ", ".join(PARTS)
        raise ReleaseError("PartUnknown", f"{', '.join(unknown)}; expected some of: {known}")
    if dist.exists() and any(dist.iterdir()) and not (dist / sums.NAME).exists():
        raise ReleaseError("NotARelease", f"{dist} has other files, and would be replaced; move it")
    # Before anything is built, since that takes minutes.
    chosen = _images_of(base, targets) if "images" in parts else None
    with places.appearing(dist) as made:
        # What a killed buildah leaves mounted must not hide why a part was not built.
        with tempfile.TemporaryDirectory(
            prefix="modelexport-release-", ignore_cleanup_errors=True
        ) as work:
            checkout = source.export(repository, Path(work) / "source", revision)
            for part in PARTS:
                if part in parts:
                    PARTS[part](Place(checkout, made, Path(work), chosen))
            _close(made, checkout, [part for part in PARTS if part in parts], chosen)
        shutil.rmtree(dist, ignore_errors=True)


def inputs(root: Path) -> dict[str, str]:
    """The sha256 of each file that decides what a release consists of."""
    every = sums.of(root)
    return {n: d for n, d in every.items() if any(n == i or n.startswith(f"{i}/") for i in _INPUTS)}


def _images_of(base: str, targets: Sequence[str]) -> Images:
    if unknown := sorted(set(targets) - set(images.TARGETS)):
        known = ", ".join(images.TARGETS)
        raise ReleaseError("ImageUnknown", f"{', '.join(unknown)}; expected some of: {known}")
    chosen = Images(bases.of(base), targets, images.version())
    place = Path(tempfile.gettempdir())
    images.check_disk(targets, places.free_bytes(place), place)
    return chosen


def _wheels(place: Place) -> None:
    wheel.build(place.source, place.dist)


def _chart(place: Place) -> None:
    if golang.HELM.missing:
        raise ReleaseError(
            "HelmMissing", "the chart is packed by the test bed's helm; `make testbed`"
        )
    chart.build(place.source, golang.HELM.binary("helm"), place.dist)


def _images(place: Place) -> None:
    if chosen := place.chosen:
        storage = place.work / "images"
        digests = images.build(place.source, chosen.base, chosen.targets, storage, place.dist)
        (place.dist / VALUES).write_text(yaml.safe_dump(images.values(digests)))


def _sboms(place: Place) -> None:
    about = place.source
    (place.dist / "sbom").mkdir()
    for name in LOCKS:
        pins = locks.read(about.root / f"requirements/{name}.txt")
        image = f"modelexport-{name}"
        layout = place.dist / "oci" / name
        bill = sbom.document(
            *(image, about.version, pins),
            commit=about.commit,
            epoch=about.epoch,
            digest=layouts.digest(layout) if layout.exists() else None,
        )
        (place.dist / f"sbom/{image}.cdx.json").write_bytes(encoded(bill))


def _notices(place: Place) -> None:
    found = {pin for n in LOCKS for pin in locks.read(place.source.root / f"requirements/{n}.txt")}
    pins = sorted(found, key=lambda pin: (pin.name, pin.version, pin.marker))
    text = notices.page(notices.collect(pins, place.work))
    (place.dist / "THIRD_PARTY_NOTICES.txt").write_text(text)


def _close(dist: Path, checkout: Source, parts: Sequence[str], chosen: Images | None) -> None:
    """Write the statement about all files, and then the sums, which cover it too."""
    tools: Mapping[str, str] = {
        **({"buildah": chosen.buildah} if chosen else {}),
        "hatchling": version("hatchling"),
        "helm": versions.HELM,
        "python": platform.python_version(),
    }
    said = statement.document(
        sums.of(dist),
        commit=checkout.commit,
        parts=parts,
        inputs=inputs(checkout.root),
        versions=tools,
        base=chosen.base.digest if chosen else None,
    )
    (dist / statement.NAME).write_bytes(encoded(said))
    (dist / sums.NAME).write_text(sums.text(sums.of(dist)))


PARTS: Mapping[str, Callable[[Place], None]] = {
    "wheels": _wheels,
    "chart": _chart,
    "images": _images,  # Before sbom, which names them.
    "sbom": _sboms,
    "notices": _notices,
}
