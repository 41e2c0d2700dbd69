"""Each mistake is answered at once: the field, what was found, what is expected, what to write."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from bad_input.cases import OF_COMMAND_LINES, OF_FILES, OF_FILES_NAMED, OF_IDENTITY, Case
from bad_input.cases_of_fields import OF_FIELDS
from bad_input.code.model import build

CASES = [*OF_FILES, *OF_IDENTITY, *OF_FIELDS, *OF_FILES_NAMED, *OF_COMMAND_LINES]
CODE = Path(__file__).parent / "code"
COMMANDS = Path(__file__).parent / "commands.py"
OF_OTHERS = re.compile(
    r"Input should be|String should|Extra inputs|Field required|pydantic|Traceback|\\\^|the image|"
    r"\bpod\b|podTemplate"
)
"""Words of libraries, regular expressions, and what a workstation has not."""
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "COLUMNS": "10000"}
Answers = Mapping[str, Any]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What the command answers to each case, one after the other in one process."""
    root = tmp_path_factory.mktemp("bad_input")
    torch.save(build().state_dict(), root / "model.pt")
    for case in CASES:
        prepare(case, root / case.name, root / "model.pt")
    wanted = [[str(root / case.name), case.arguments] for case in CASES]
    done = subprocess.run(
        [sys.executable, COMMANDS],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    return dict(zip([case.name for case in CASES], json.loads(done.stdout), strict=True))


def prepare(case: Case, directory: Path, checkpoint: Path) -> None:
    """Write what is there when the command is called."""
    shutil.copytree(CODE, directory / "code", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(checkpoint, directory / "model.pt")
    for name, text in case.files.items():
        (directory / name).write_text(text)
    if case.text is not None:
        content = case.text if isinstance(case.text, bytes) else case.text.encode()
        (directory / "m.yaml").write_bytes(content)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mistake(case: Case, answers: Answers) -> None:
    answer = answers[case.name]
    said = " ".join(answer["output"].split())
    assert answer["code"] == case.code, said
    parts = (case.names, case.found, case.expected, case.write)
    assert [part for part in parts if part not in said] == [], said
    assert not OF_OTHERS.search(said), said
    assert answer["imported"] == [], "it is answered before torch is imported"
    assert answer["written"] == []


def test_the_command_itself(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "a relative path")
    torch.save(build().state_dict(), tmp_path / "weights.pt")
    prepare(case, tmp_path / "run", tmp_path / "weights.pt")
    done = subprocess.run(
        [sys.executable, "-m", "modelexport_cli.main", *case.arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path / "run",
        env=ENVIRONMENT,
    )
    assert done.returncode == case.code
    assert case.write in " ".join(done.stdout.split())


def test_the_table_is_large_and_its_names_differ() -> None:
    assert len(CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)
