"""The parts built from Go modules: what they are, where they are cached, how they are built.

A part is one Go module at one version and the commands taken from it. It is built in a throw-away
module that requires it, so nothing but the version here decides what is built, and it appears in
the cache complete or not at all.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bed import places, versions


@dataclass(frozen=True)
class GoPart:
    """One Go module and the commands we take from it."""

    name: str
    version: str
    module: str
    commands: Mapping[str, str]
    """Binary name to import path."""
    linker_flags: str = "-s -w"
    staging_version: str | None = None
    """The version of modules that MODULE replaces by directories of its own ('staging')."""
    source: Path | None = None
    """The module's directory, for a command of our own."""
    libraries: Mapping[str, str] = field(default_factory=dict)
    """What a command of our own imports: module to version."""

    @property
    def directory(self) -> Path:
        return places.cache() / "bin" / f"{self.name}-{self.version}"

    def binary(self, command: str) -> Path:
        return self.directory / command

    @property
    def missing(self) -> bool:
        return not all(self.binary(command).exists() for command in self.commands)


_KUBERNETES_COMMANDS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
    "kubectl",
    "kubelet",
)

VERSITYGW = GoPart(
    name="versitygw",
    version=versions.VERSITYGW,
    module="github.com/versity/versitygw",
    commands={"versitygw": "github.com/versity/versitygw/cmd/versitygw"},
)
ETCD = GoPart(
    name="etcd",
    version=versions.ETCD,
    module="go.etcd.io/etcd/server/v3",
    commands={"etcd": "go.etcd.io/etcd/server/v3"},
)
KUBERNETES = GoPart(
    name="kubernetes",
    version=versions.KUBERNETES,
    module="k8s.io/kubernetes",
    commands={command: f"k8s.io/kubernetes/cmd/{command}" for command in _KUBERNETES_COMMANDS},
    linker_flags=f"-s -w -X k8s.io/component-base/version.gitVersion=v{versions.KUBERNETES}",
    staging_version="v0." + versions.KUBERNETES.split(".", 1)[1],
)
HELM = GoPart(
    name="helm",
    version=versions.HELM,
    module="helm.sh/helm/v4",
    commands={"helm": "helm.sh/helm/v4/cmd/helm"},
)
PAUSE = GoPart(
    name="pause",
    version=versions.PAUSE,
    module="pause",
    commands={"pause": "pause"},
    source=Path(__file__).parent / "pause",
)

GITOPS = GoPart(
    name="gitops",
    version=f"{versions.GITOPS}-{versions.HELM}",
    module="gitops",
    commands={"gitops": "gitops"},
    source=Path(__file__).parent / "gitops",
    # helm decides the version of kstatus, whose packages are compiled for helm anyway.
    libraries={
        HELM.module: versions.HELM,
        "github.com/google/cel-go": versions.CEL,
        "github.com/yuin/gopher-lua": versions.LUA,
    },
)
ARGO_EVENTS = GoPart(
    name="argoevents",
    version=f"1-{versions.ARGO_EVENTS}",
    module="argoevents",
    commands={"argoevents": "argoevents"},
    source=Path(__file__).parent / "argoevents",
    libraries={"github.com/argoproj/argo-events": versions.ARGO_EVENTS},
)
"""Not among PARTS: a nightly test alone needs it, and builds it."""
REGISTRY = GoPart(
    name="registry",
    version=versions.REGISTRY,
    module="github.com/distribution/distribution/v3",
    commands={"registry": "github.com/distribution/distribution/v3/cmd/registry"},
)

PARTS = (VERSITYGW, ETCD, PAUSE, REGISTRY, KUBERNETES, HELM, GITOPS)
CONTROL_PLANE_PARTS = (ETCD, KUBERNETES)
NODE_PARTS = (ETCD, KUBERNETES, PAUSE, REGISTRY, VERSITYGW)


def go_mod(part: GoPart, staging: list[str]) -> str:
    """The throw-away module that requires PART and nothing else."""
    modules = part.libraries if part.source else {part.module: part.version}
    requires = [f"require {path} v{version}" for path, version in modules.items()]
    replaces = [f"replace {path} => {path} {part.staging_version}" for path in staging]
    name = part.module if part.source else f"bed/{part.name}"
    return "\n".join([f"module {name}", "go 1.24", *requires, *replaces, ""])


def staging_modules(edited_go_mod: str) -> list[str]:
    """The modules that a go.mod, as `go mod edit -json` prints it, replaces by directories."""
    replaces = json.loads(edited_go_mod).get("Replace") or []
    return [r["Old"]["Path"] for r in replaces if r["New"]["Path"].startswith("./")]


def built_name(import_path: str) -> str:
    """What `go build` calls the command at IMPORT_PATH: its last element, but for a version."""
    elements = [e for e in import_path.split("/") if not re.fullmatch(r"v\d+", e)]
    return elements[-1]


def build(part: GoPart) -> None:
    """Build PART into the cache unless it is there."""
    with places.locked(f"go-{part.name}-{part.version}"):
        if not part.missing:
            return
        with (
            tempfile.TemporaryDirectory(prefix="modelexport-bed-go-") as work,
            places.appearing(part.directory) as output,
        ):
            _prepare_module(part, Path(work))
            _go(
                Path(work),
                *("build", "-mod=mod", "-trimpath", "-ldflags", part.linker_flags, "-o"),
                *(f"{output}/", *part.commands.values()),
            )
            _name_commands(part, output)
            shutil.rmtree(part.directory, ignore_errors=True)


def _prepare_module(part: GoPart, work: Path) -> None:
    staging: list[str] = []
    if part.staging_version:
        answer = _go(work, "mod", "download", "-json", f"{part.module}@v{part.version}")
        staging = staging_modules(_go(work, "mod", "edit", "-json", json.loads(answer)["GoMod"]))
    if part.source:
        for file in part.source.glob("*.go"):
            shutil.copy(file, work)
    (work / "go.mod").write_text(go_mod(part, staging))


def _name_commands(part: GoPart, output: Path) -> None:
    """Go names a binary after its import path (`server` for etcd); give it the name we use."""
    for command, path in part.commands.items():
        if built_name(path) != command:
            (output / built_name(path)).rename(output / command)


def _go(work: Path, *arguments: str) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    done = subprocess.run(
        ["nice", "go", *arguments],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last_lines = "\n".join(done.stderr.splitlines()[-20:])
        raise RuntimeError(f"go {arguments[0]} failed in a module for the test bed:\n{last_lines}")
    return done.stdout


def architecture() -> str:
    """This machine's architecture in Go's words, which are the image specification's too."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
