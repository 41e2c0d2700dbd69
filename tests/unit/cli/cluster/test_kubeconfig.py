from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.kubeconfig import Selection, candidates, choose
from modelexport_cli.cluster.request import Access

HOME = Path("/home/me")


def config(current: str = "", **namespaces: str) -> dict[str, Any]:
    contexts = [
        {"name": name, "context": {"cluster": f"c-{name}", "namespace": namespace}}
        for name, namespace in namespaces.items()
    ]
    clusters = [
        {"name": f"c-{name}", "cluster": {"server": f"https://{name}"}} for name in namespaces
    ]
    found = {"contexts": contexts, "clusters": clusters}
    return {**found, "current-context": current} if current else found


@pytest.mark.parametrize(
    ("option", "environ", "expected"),
    [
        (None, {}, ["/home/me/.kube/config"]),
        (None, {"KUBECONFIG": ""}, ["/home/me/.kube/config"]),
        (None, {"KUBECONFIG": "/a:/b::/a"}, ["/a", "/b"]),
        (None, {"KUBECONFIG": "~/x"}, ["/home/me/x"]),
        (Path("/c"), {"KUBECONFIG": "/a:/b"}, ["/c"]),
    ],
)
def test_the_files_are_those_of_kubectl(
    option: Path | None, environ: dict[str, str], expected: list[str]
) -> None:
    assert [str(path) for path in candidates(option, environ, HOME)] == expected


@pytest.mark.parametrize(
    ("configs", "selection", "expected"),
    [
        ([config("a", a="team")], Selection(), Access("a", "team", "https://a")),
        ([config("a", a="")], Selection(), Access("a", "default", "https://a")),
        ([config("a", a="team")], Selection(namespace="x"), Access("a", "x", "https://a")),
        ([config("a", a="t", b="u")], Selection(context="b"), Access("b", "u", "https://b")),
        (
            [config("a", a="first"), config("b", a="second", b="u")],
            Selection(),
            Access("a", "first", "https://a"),
        ),
        ([config(a="t"), config("b", b="u")], Selection(), Access("b", "u", "https://b")),
        ([{"current-context": "a"}, config("", a="t")], Selection(), Access("a", "t", "https://a")),
    ],
)
def test_the_first_file_that_says_something_decides(
    configs: list[dict[str, Any]], selection: Selection, expected: Access
) -> None:
    assert choose(configs, selection) == expected


@pytest.mark.parametrize(
    ("configs", "selection", "message", "hint"),
    [
        ([config(a="t", b="u")], Selection(), "no current context", "a, b"),
        ([config("a", a="t")], Selection(context="x"), "no context x", "Its contexts are: a."),
        ([{"contexts": None}], Selection(), "no current context", "none"),
    ],
)
def test_a_missing_context_is_named_with_those_that_exist(
    configs: list[dict[str, Any]], selection: Selection, message: str, hint: str
) -> None:
    with pytest.raises(ClusterError) as caught:
        choose(configs, selection)
    assert message in caught.value.message
    assert hint in caught.value.hint
