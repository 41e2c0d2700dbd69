"""Images are cached by what goes into them, and carry no path of the machine that made them."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from bed import images, pause_image


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "api").mkdir()
    (tmp_path / "api/types.py").write_text("A = 1\n")
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    return tmp_path


NAMES = ("Dockerfile", "api", "not-there")


def test_the_digest_follows_content(tree: Path) -> None:
    before = images.files_digest(tree, NAMES)
    assert images.files_digest(tree, NAMES) == before
    (tree / "api/types.py").write_text("A = 2\n")
    assert images.files_digest(tree, NAMES) != before


def test_the_digest_follows_names_and_salt(tree: Path) -> None:
    before = images.files_digest(tree, NAMES)
    assert images.files_digest(tree, NAMES, salt="other target") != before
    (tree / "api/types.py").rename(tree / "api/renamed.py")
    assert images.files_digest(tree, NAMES) != before


def test_the_digest_ignores_bytecode_and_other_files(tree: Path) -> None:
    before = images.files_digest(tree, NAMES)
    (tree / "api/__pycache__").mkdir()
    (tree / "api/__pycache__/types.pyc").write_bytes(b"\0")
    (tree / "notes.txt").write_text("not part of the image")
    assert images.files_digest(tree, NAMES) == before


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        pytest.param("UV_DEFAULT_INDEX", "https://index.example/simple", True, id="an index"),
        pytest.param("PIP_DEFAULT_TIMEOUT", "180", True, id="a plain setting"),
        pytest.param("https_proxy", "http://proxy.example:3128", True, id="a proxy"),
        pytest.param("PIP_FIND_LINKS", "/wheels", False, id="a path of this machine"),
        pytest.param("AWS_SECRET_ACCESS_KEY", "secret", False, id="a credential"),
    ],
)
def test_images_get_what_installers_need(name: str, value: str, kept: bool) -> None:
    assert (images.installer_settings({name: value}).get(name) == value) is kept


def test_the_certificate_bundle_is_at_the_image_s_own_path() -> None:
    settings = images.installer_settings({"SSL_CERT_FILE": "/home/me/bundle.pem"})
    assert settings["SSL_CERT_FILE"] == "/etc/ssl/certs/ca-certificates.crt"


def test_the_pause_image_runs_its_only_file() -> None:
    archive = tarfile.open(fileobj=io.BytesIO(pause_image.pack(b"binary")))  # noqa: SIM115
    contents = {name: archive.extractfile(name) for name in archive.getnames()}
    (manifest,) = json.load(contents["manifest.json"] or io.BytesIO())
    config = json.load(contents[manifest["Config"]] or io.BytesIO())
    layer = tarfile.open(fileobj=contents[manifest["Layers"][0]])  # noqa: SIM115
    assert config["config"]["Entrypoint"] == ["/pause"]
    assert layer.getnames() == ["pause"]


@pytest.mark.parametrize(
    ("size", "in_bytes"),
    [("240 MB", 240_000_000), ("6.59 GB", 6_590_000_000), ("1.5 KB", 1500), ("12 B", 12)],
)
def test_sizes_for_people_are_read(size: str, in_bytes: int) -> None:
    assert images.bytes_of(size) == in_bytes
