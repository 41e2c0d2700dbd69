"""Known vulnerabilities of what images install: `make audit`, where an index answers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from release import locks
from release.audit import Answer, answer

ROOT = Path(__file__).parents[3]
PIP_AUDIT = ROOT / "build/audit/bin/pip-audit"


@pytest.mark.parametrize(
    ("code", "output", "expected"),
    [
        (0, "operator\nNo known vulnerabilities found\n", Answer.CLEAN),
        (1, "operator\nFound 2 known vulnerabilities in 1 package\n", Answer.VULNERABLE),
        (1, "Found 1 known vulnerability in 1 package\n", Answer.VULNERABLE),
        (
            1,
            "ERROR:pip_audit._cli:kopf: Dependency not found on PyPI and could not be audited",
            Answer.NONE,
        ),
        (1, "requests.exceptions.ConnectionError: HTTPSConnectionPool", Answer.NONE),
        (1, "Found 1 known vulnerability in 1 package\na could not be audited", Answer.VULNERABLE),
        (2, "make: *** No rule to make target 'audit'", Answer.BROKEN),
        (1, "", Answer.BROKEN),
    ],
)
def test_how_an_audit_ended(code: int, output: str, expected: Answer) -> None:
    assert answer(code, output) is expected


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_nothing_is_known_about_what_images_install(tmp_path: Path) -> None:
    # The environment of these tests is the one that setup prepares.
    code, output = run("make", "--old-file=setup", "audit")
    found = answer(code, output)
    if found is Answer.NONE and one_package(tmp_path) is Answer.NONE:
        pytest.skip(f"no index here answers about vulnerabilities: {output.splitlines()[-2]}")
    assert found is Answer.CLEAN, output


def one_package(work: Path) -> Answer:
    """Whether an index answers at all: about a package that every index has."""
    (pin,) = [p for p in locks.read(ROOT / "requirements/build.txt") if p.name == "packaging"]
    (work / "one.txt").write_text(pin.requirement() + "\n")
    words = ("--strict", "--disable-pip", "--require-hashes", "--requirement")
    return answer(*run(str(PIP_AUDIT), *words, str(work / "one.txt")))


def run(*command: str) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
