"""What is known of GPUs from the files of NVIDIA's driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_exporter.core.gpus import Gpus, find_gpus

INFORMATION = """Model: \t\t NVIDIA H200
IRQ:   \t\t 27
GPU UUID: \t GPU-6f3fd03a-2e7f-c8ac-11f6-b6d061987396
Bus Type: \t PCIe
"""
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (root@b)\n"
)
CLOSED = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
)


def driver(proc: Path, version: str, *gpus: str) -> Path:
    proc.joinpath("version").write_text(version + "GCC version:  gcc version 12.2.0\n")
    for place, text in enumerate(gpus):
        directory = proc / "gpus" / f"0000:00:0{place}.0"
        directory.mkdir(parents=True)
        (directory / "information").write_text(text)
    return proc


@pytest.mark.parametrize(
    ("version", "expected"), [(OPEN, "580.159.04"), (CLOSED, "535.104.05"), ("", "")]
)
def test_models_and_driver(tmp_path: Path, version: str, expected: str) -> None:
    found = find_gpus(driver(tmp_path, version, INFORMATION, INFORMATION.replace("H200", "L4")))
    assert (found.models, found.driver) == (("NVIDIA H200", "NVIDIA L4"), expected)


def test_versions_of_the_libraries_that_compute(tmp_path: Path) -> None:
    libraries = dict(find_gpus(driver(tmp_path, OPEN, INFORMATION)).libraries)
    assert {"nvidia-cublas", "nvidia-cuda-runtime"} <= set(libraries)
    assert all(version[0].isdigit() for version in libraries.values())


@pytest.mark.parametrize("texts", [(), ("Model:\n",)])
def test_without_gpus_there_is_nothing_to_say(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert find_gpus(driver(tmp_path, OPEN, *texts)) == Gpus()
    assert find_gpus(tmp_path / "missing") == Gpus()
