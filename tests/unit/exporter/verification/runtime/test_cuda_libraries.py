from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnxruntime
import pytest

from modelexport_exporter.verification.runtime import cuda_libraries
from modelexport_exporter.verification.runtime.cuda_libraries import (
    needed_libraries,
    provider_library,
)

needs_provider = pytest.mark.skipif(
    not provider_library().is_file(), reason="needs onnxruntime-gpu (Linux)"
)
CAPI = Path(onnxruntime.__file__).parent / "capi"


@needs_provider
def test_onnxruntime_finds_every_cuda_library_without_a_cuda_base_image() -> None:
    """In a process of its own: torch, loaded here, would bring libraries of its own."""
    command = [sys.executable, "-m", "modelexport_exporter.verification.runtime.cuda_libraries"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "torch" not in result.stderr


@needs_provider
def test_missing_libraries_are_listed_without_the_packages(
    tmp_path: Path,
) -> None:
    """`preload_dlls` does nothing here, as where the packages are not installed."""
    (tmp_path / "check.py").write_text(
        "import sys, onnxruntime\n"
        "from modelexport_exporter.verification.runtime import cuda_libraries\n"
        "onnxruntime.preload_dlls = lambda: None\n"
        "sys.exit(cuda_libraries.main())\n"
    )
    result = subprocess.run(
        [sys.executable, str(tmp_path / "check.py")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    for name in ("libcublas.so", "libcurand.so", "libcudnn.so"):
        assert name in result.stderr
    assert cuda_libraries.DRIVER not in result.stderr


@needs_provider
def test_needed_libraries_are_read_from_the_dynamic_section() -> None:
    needed = needed_libraries(provider_library().read_bytes())
    assert cuda_libraries.DRIVER in needed
    assert any(name.startswith("libcurand.so") for name in needed)
    assert "libc.so.6" in needed


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_needed_libraries_of_a_small_library() -> None:
    library = next(CAPI.glob("*pybind11_state*.so"))
    needed = needed_libraries(library.read_bytes())
    assert needed
    assert all(".so" in name for name in needed)


@pytest.mark.parametrize("content", [b"", b"MZ\x90\x00", b"\x7fELF\x01\x01"], ids=repr)
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a 64-bit"):
        needed_libraries(content)
