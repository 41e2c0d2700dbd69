"""Which files below a directory count as the model's code."""

from __future__ import annotations

import pytest

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.source.code_files import (
    code_files,
    destination_pattern,
    source_patterns,
)

CODE = ["net.py", "pkg/layers.py", "pkg/config.json"]
PUBLISHED = ["manifest.json", "model.onnx", "model.0123456789ab.data", "report.html", "report.json"]
HERE = "file:///home/me/a%20model/"


def spec_of(source: dict[str, object], destination: str) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {"source": source, "inputs": [{"name": "x"}], "destination": {"uri": destination}}
    )


def below(directory: str, names: list[str] = PUBLISHED) -> list[str]:
    return [f"{directory}/{name}" for name in names]


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([".git/HEAD", "pkg/.git"], id="git"),
        pytest.param(["__pycache__/net.pyc", "pkg/__pycache__/a.py"], id="caches"),
        pytest.param(["env/pyvenv.cfg", "env/lib/torch/nn.py"], id="a virtual environment"),
        pytest.param(["a [1]/pyvenv.cfg", "a [1]/lib/x.py"], id="one with special characters"),
        pytest.param([".venv/lib/torch/nn.py"], id="an environment by its name"),
        pytest.param(["modelexport-run-ab/code/net.py"], id="the directory of a run"),
        pytest.param(below("onnx"), id="what another export published"),
        pytest.param(below("onnx/failed/m-1", ["report.html", "report.json"]), id="its failures"),
        pytest.param(
            below("f", ["report.html", "report.json", "repro/repro.py"]), id="how to reproduce them"
        ),
    ],
)
def test_what_is_never_code(others: list[str]) -> None:
    assert code_files([*CODE, *others], {}) == CODE


@pytest.mark.parametrize(
    ("destination", "others"),
    [
        pytest.param("out", below("out", [*PUBLISHED, "notes.py"]), id="a directory below"),
        pytest.param("", PUBLISHED, id="the directory of the code"),
        pytest.param("", ["batches/x/index.html", ".staging/x/model.onnx"], id="of a batch"),
        pytest.param("my\\ out", below("my out"), id="a name with a space"),
    ],
)
def test_the_destination_is_no_code(destination: str, others: list[str]) -> None:
    assert code_files([*CODE, *others], {}, destination=destination) == CODE


def test_a_file_with_the_name_of_an_output_is_code_where_nothing_is_published() -> None:
    names = [*CODE, "web/manifest.json", "pkg/model.onnx", "repro/net.py", "report.json"]
    assert code_files(names, {}) == names
    assert code_files(names, {}, destination="out") == names


@pytest.mark.parametrize(
    ("sources", "others"),
    [
        pytest.param(["w.pt"], ["w.pt"], id="a file"),
        pytest.param(["checkpoint"], ["checkpoint/config.json"], id="a directory"),
        pytest.param(["folds/*.pt"], ["folds/1.pt", "folds/2.pt"], id="a glob"),
    ],
)
def test_the_checkpoint_is_no_code(sources: list[str], others: list[str]) -> None:
    beside = [*CODE, "pkg/w.pt", "folds/notes.txt", "checkpoint/modeling.py"]
    assert code_files([*beside, *others], {}, sources) == beside


@pytest.mark.parametrize(
    ("ignore_files", "names", "expected"),
    [
        ({".gitignore": "*.log\n/data/\n"}, ["a.log", "data/x.bin", "pkg/data/x.bin"], [2]),
        ({".gitignore": "*.log", "pkg/.gitignore": "!keep.log"}, ["a.log", "pkg/keep.log"], [1]),
        ({"cache/.gitignore": "*"}, ["cache/a/b.txt", "cachet.txt"], [1]),
        ({".gitignore": "lib/\n_v.py"}, ["lib/net.py", "pkg/_v.py", "lib/a.so"], [0, 1]),
    ],
    ids=["patterns", "the inner file rules", "a cache that ignores itself", "Python stays"],
)
def test_what_gitignore_names_is_no_code_unless_python_imports_it(
    ignore_files: dict[str, str], names: list[str], expected: list[int]
) -> None:
    assert code_files(names, ignore_files) == [names[place] for place in expected]


@pytest.mark.parametrize(
    ("source", "destination", "patterns", "pattern"),
    [
        ({"uri": f"{HERE}w%20[1].pt"}, f"{HERE}out/", ["w [1].pt"], "out"),
        ({"uri": f"{HERE}w%5B1].pt"}, HERE, ["w\\[1\\].pt"], ""),
        ({"uri": "file:///home/me/w.pt"}, "file:///home/me/out/", [], None),
        ({"uri": "file:///home/me/"}, "file:///home/me/", [], None),
        ({"uri": f"{HERE}f-*.pt"}, f"{HERE}out/{{stem}}/", ["f-*.pt"], "out"),
        ({"uri": f"{HERE}f-*.pt"}, f"{HERE}out-{{stem}}/", ["f-*.pt"], ""),
        ({"uris": [f"{HERE}a.pt", f"{HERE}b.pt"]}, f"{HERE}o/{{stem}}/", ["a.pt", "b.pt"], "o"),
        ({"uri": "s3://b/w.pt"}, "s3://b/out/", [], None),
    ],
)
def test_uris_of_the_spec_as_patterns(
    source: dict[str, object], destination: str, patterns: list[str], pattern: str | None
) -> None:
    spec = spec_of(source, destination)
    assert source_patterns(spec, HERE) == patterns
    assert destination_pattern(spec, HERE) == pattern


def test_a_bucket_is_treated_like_a_directory() -> None:
    spec = spec_of({"uri": "s3://b/code/w 1.pt"}, "s3://b/code/out/")
    assert source_patterns(spec, "s3://b/code/") == ["w\\ 1.pt"]
    assert destination_pattern(spec, "s3://b/code/") == "out"
