"""The code of docs/python.md runs as it is written, from top to bottom."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    exported, verified, reason, message, hint = done.stdout.splitlines()
    assert exported.startswith("<Verified: ")
    assert exported.endswith("scorer-onnx/model.onnx>")
    assert verified.startswith("<Verified: ")
    assert verified.endswith("plain.onnx>")
    assert reason == "InvalidManifest"
    assert "the smallest size is larger" in message
    assert hint
