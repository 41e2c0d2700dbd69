"""What images are built of, and how buildah is asked for them; e2e/test_release.py builds one."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import re
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import jsonschema
import pytest
import yaml

from release import base, images, layouts, locks
from release.base import Base
from release.build import LOCKS
from release.errors import ReleaseError
from release.source import Source

ROOT = Path(__file__).parents[3]
DIGEST = "sha256:" + "a" * 64
OTHER = "sha256:" + "b" * 64
SOURCE = Source(ROOT, "c" * 40, 86_400)


def layout(directory: Path, *digests: str) -> Path:
    directory.mkdir()
    index = {"schemaVersion": 2, "manifests": [{"digest": digest} for digest in digests]}
    (directory / "index.json").write_text(json.dumps(index))
    return directory


def archive(path: Path, directory: Path, prefix: str = "") -> Path:
    with tarfile.open(path, "w") as file:
        file.add(directory / "index.json", f"{prefix}index.json")
    return path


@pytest.mark.parametrize(
    "name", ["docker.io/library/python", "registry.example:5000/python", "python:3.13"]
)
def test_a_base_by_name_and_digest(name: str) -> None:
    assert base.of(f"{name}@{DIGEST}") == Base(f"docker://{name}@{DIGEST}", DIGEST)


@pytest.mark.parametrize("prefix", ["", "./"])
def test_a_base_that_is_here(tmp_path: Path, prefix: str) -> None:
    directory = layout(tmp_path / "base", DIGEST)
    assert base.of(str(directory)) == Base(f"oci:{directory}", DIGEST)
    packed = archive(tmp_path / "base.tar", directory, prefix)
    assert base.of(str(packed)) == Base(f"oci-archive:{packed}", DIGEST)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "BaseMissing"),
        ("python:3.13-slim", "BaseNotPinned"),
        ("python@sha256:abc", "BaseNotPinned"),
        ("/not/there", "BaseNotPinned"),
    ],
)
def test_what_is_no_base_says_what_to_give(text: str, reason: str) -> None:
    with pytest.raises(ReleaseError, match=rf"{reason}: .*Give BASE=NAME@sha256:…") as caught:
        base.of(text)
    assert caught.value.reason == reason


def test_layouts_that_are_not_one_image(tmp_path: Path) -> None:
    for directory in (layout(tmp_path / "none"), layout(tmp_path / "two", DIGEST, OTHER)):
        with pytest.raises(
            ReleaseError, match=r"LayoutNotOneImage: .* has [02] images, expected 1"
        ):
            layouts.digest(directory)
    (tmp_path / "text").write_text("no archive")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/index.json").write_text("{")
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    for name in ("text", "empty", "broken", "empty.tar", "not-there"):
        with pytest.raises(ReleaseError, match=f"LayoutNotRead: {tmp_path / name} is no OCI"):
            layouts.digest(tmp_path / name)


def test_the_name_of_the_base_in_the_history_does_not_depend_on_where_it_is() -> None:
    here, there = Base("oci:/a", DIGEST), Base(f"docker://python@{DIGEST}", DIGEST)
    assert here.name == there.name != Base("oci:/a", OTHER).name


def test_what_buildah_is_asked_for() -> None:
    words = images.build_words(SOURCE, Base("oci:/a", DIGEST), "operator", "localhost/x:1")
    assert words[words.index("--timestamp") + 1] == "86400"
    assert words[words.index("--target") + 1] == "operator"
    assert f"BASE=localhost/base:{'a' * 64}" in words
    assert f"--annotation=org.opencontainers.image.base.digest={DIGEST}" in words
    assert f"--annotation=org.opencontainers.image.revision={'c' * 40}" in words
    assert "--annotation=org.opencontainers.image.created=1970-01-02T00:00:00Z" in words
    assert words[-1] == str(ROOT)


@pytest.mark.parametrize(
    ("targets", "gibibytes", "missing"),
    [
        (["operator"], 3, None),
        (["operator", "exporter-cpu"], 12, None),
        (["operator", "exporter-cpu"], 11, "exporter-cpu needs 12"),
        (["exporter"], 29.9, r"/scratch has 29\.9 GiB free, the build of exporter needs 30"),
    ],
)
def test_the_disk_that_a_build_needs(
    targets: Sequence[str], gibibytes: float, missing: str | None
) -> None:
    with pytest.raises(ReleaseError, match=missing) if missing else nullcontext():
        images.check_disk(targets, int(gibibytes * 1024**3), Path("/scratch"))


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([], {}),
        (["operator"], {"operator": {"image": {"digest": DIGEST}}}),
        (
            ["exporter", "exporter-cpu"],
            {"exporter": {"image": {"digest": DIGEST}, "cpuImage": {"digest": DIGEST}}},
        ),
    ],
)
def test_values_that_select_the_images(targets: Sequence[str], expected: object) -> None:
    found = images.values(dict.fromkeys(targets, DIGEST))
    assert found == expected
    # As helm does: over the chart's own.
    values = yaml.safe_load((ROOT / "charts/modelexport/values.yaml").read_text())
    for component, selected in found.items():
        for image in selected:
            values[component][image] |= selected[image]
    schema = json.loads((ROOT / "charts/modelexport/values.schema.json").read_text())
    jsonschema.validate(values, schema)


def test_every_image_is_a_target_of_the_dockerfile_with_a_lock() -> None:
    stages = re.findall(r"^FROM \S+ AS (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    internal = {"package", "without-cuda"}
    assert set(images.TARGETS) == set(stages) - internal == set(LOCKS) == set(images.VALUES)
    for target in images.TARGETS:
        assert (ROOT / f"requirements/{target}.txt").is_file()


def test_everything_in_images_is_installed_by_its_hash() -> None:
    steps = "\n".join(
        (ROOT / name).read_text().replace("\\\n", " ")
        for name in ("Dockerfile", "requirements/install.sh")
    )
    installs = re.findall(r"pip install ([^&\n]*)", steps)
    assert len(installs) == 5
    own = [words for words in installs if "--require-hashes" not in words]
    assert [words.split()[-3:] for words in own] == [["--target", "/opt/package", "."]]
    assert {"--no-deps", "--no-build-isolation"} <= set(own[0].split())
    assert not re.search(r"\b(apt|apt-get|curl|wget)\b", steps)


def test_what_builds_images_is_what_builds_elsewhere() -> None:
    pins = {pin.name: pin.version for pin in locks.read(ROOT / "requirements/build.txt")}
    assert f"UV_VERSION := {pins['uv']}\n" in (ROOT / "Makefile").read_text()
    assert f'requires = ["hatchling=={pins["hatchling"]}"]' in (ROOT / "pyproject.toml").read_text()


def test_bytecode_depends_on_sources_alone(tmp_path: Path) -> None:
    source = tmp_path / "example.py"
    source.write_text("VALUE = {'a', 'b'}\n")
    (tmp_path / "never_imported.py").write_text("")
    bytecode = Path(importlib.util.cache_from_source(str(source)))
    found = set()
    for time in (1, 2_000_000_000):
        os.utime(source, (time, time))
        py_compile.compile(str(source))
        subprocess.run([sys.executable, ROOT / "requirements/bytecode.py", tmp_path], check=True)
        found.add(bytecode.read_bytes())
    (content,) = found
    assert content[4:8] == (1).to_bytes(4, "little"), "unchecked-hash, PEP 552"
    assert [path.name for path in bytecode.parent.iterdir()] == [bytecode.name]
