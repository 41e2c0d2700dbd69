"""examples/notebook.ipynb in a real Jupyter kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

READ: Callable[..., Any] = nbformat.read
NOTEBOOK = Path(__file__).parents[3] / "examples" / "notebook.ipynb"


def executed(place: Path) -> dict[str, Any]:
    """Return the cells by their ids, after a Jupyter kernel ran them in a directory."""
    notebook = READ(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=500, resources={"metadata": {"path": str(place)}}).execute()
    return {cell["id"]: cell for cell in notebook.cells}


def printed(cell: dict[str, Any], name: str = "stdout") -> str:
    return "".join(out["text"] for out in cell["outputs"] if out.get("name") == name)


def shown(cell: dict[str, Any]) -> dict[str, str]:
    (output,) = [out for out in cell["outputs"] if out["output_type"] == "execute_result"]
    data: dict[str, str] = output["data"]
    return data


def test_the_notebook_is_stored_without_outputs() -> None:
    notebook = READ(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in code] == [[] for _ in code]


def test_the_notebook_runs(tmp_path: Path) -> None:
    """One test, since each one may run in another process. A cell that raises is an error."""
    cells = executed(tmp_path)

    assert "<Verified: " in printed(cells["export"])
    assert "ids: int64 [batch, sequence], 0..999" in printed(cells["export"])
    assert printed(cells["export"], "stderr") == "", "Jupyter shows it in red"

    result = shown(cells["result"])
    assert result["text/html"].startswith("<iframe srcdoc=")
    assert "scorer" in result["text/html"]
    assert result["text/plain"].startswith("<Verified: ")

    assert shown(cells["run"])["text/plain"] == "(3, 2)"
    assert shown(cells["verify"])["text/plain"] == "'Verified'"

    reason, message, hint = printed(cells["mismatch"]).splitlines()
    assert reason == "VerificationFailed"
    assert "eager returns" in message
    assert hint
