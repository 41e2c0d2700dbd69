"""The command `modelexport` as a user calls it, on the control plane of the tests."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.operator.world import SPEC, World
from modelexport_cli.main import main

TIMEOUT = 60.0


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


@dataclass
class Running:
    """A command that runs."""

    process: subprocess.Popen[str]
    read: str = ""
    """What was read of stderr so far."""

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def wait_for(self, words: str) -> None:
        """Read stderr until a line has these words."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.read += line
            if words in line:
                return
        raise AssertionError(f"{words!r} was not printed:\n{self.read}")

    def end(self, timeout: float = TIMEOUT) -> Done:
        out, err = self.process.communicate(timeout=timeout)
        return Done(self.process.returncode, out, self.read + err)


@dataclass
class Terminal:
    """A shell of a user whose context has the namespace of the test."""

    world: World
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        config = yaml.safe_load(self.world.plane.kubeconfig.read_text())
        current = next(c for c in config["contexts"] if c["name"] == config["current-context"])
        current["context"]["namespace"] = self.world.namespace
        self.kubeconfig = self.home / "kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(config))

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig), "NO_COLOR": "1"}
        return {**own, **self.variables}

    def start(self, *arguments: object) -> Running:
        """Start a command in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "modelexport_cli.main", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
            env={**os.environ, **self.environment},
            # A shell starts what runs in the background with SIGINT ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        return Running(process)

    def run(self, *arguments: object) -> Done:
        """Run a command in this process, which has imported the kubernetes package already."""
        out, err = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            patch.chdir(self.home)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            code = main([str(argument) for argument in arguments])
        return Done(code, out.getvalue(), err.getvalue())

    def manifest(self, name: str, **spec: Any) -> Path:  # noqa: ANN401
        """Write a manifest; return its path."""
        path = self.home / f"{name}.yaml"
        document = {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": name, "labels": {"team": "vision"}},
            "spec": {**SPEC, **spec},
        }
        path.write_text(yaml.safe_dump(document))
        return path
