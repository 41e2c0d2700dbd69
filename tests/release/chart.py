"""The chart: a package that helm reads, and the same package as an OCI artifact."""

from __future__ import annotations

import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import yaml

from release.archives import Blob, encoded, tar_gz, untar, write_layout
from release.errors import ReleaseError
from release.source import Source

CONFIG = "application/vnd.cncf.helm.config.v1+json"
CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


def build(source: Source, helm: Path, dist: Path) -> None:
    """Write the chart's package to DIST, and its OCI layout to DIST/oci/chart."""
    package, name = _package(source, helm)
    (dist / name).write_bytes(package)
    about = yaml.safe_load((source.root / "charts/modelexport/Chart.yaml").read_text())
    created = datetime.fromtimestamp(source.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    annotations = {
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.revision": source.commit,
        "org.opencontainers.image.title": str(about["name"]),
        "org.opencontainers.image.version": str(about["version"]),
    }
    config, layer = Blob(CONFIG, encoded(about)), Blob(CONTENT, package)
    write_layout(dist / "oci/chart", config, [layer], annotations, str(about["version"]))


def _package(source: Source, helm: Path) -> tuple[bytes, str]:
    """What helm packs, packed again: helm writes the time of the call into its archive."""
    with tempfile.TemporaryDirectory(prefix="modelexport-chart-") as work:
        chart = str(source.root / "charts/modelexport")
        command = [str(helm), "package", chart, "--destination", work]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ReleaseError("ChartNotPackaged", done.stderr.strip())
        (packed,) = Path(work).glob("*.tgz")
        return tar_gz(untar(packed.read_bytes()), source.epoch), packed.name
