from __future__ import annotations

import pytest

from modelexport_exporter.checkpoint.inert_objects import (
    Inert,
    class_name,
    could_be_meant_to_run,
    stand_in,
)


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("argparse.Namespace", False),
        ("pathlib.PosixPath", False),
        ("collections.defaultdict", False),
        ("omegaconf.dictconfig.DictConfig", False),
        ("__main__.Config", False),
        ("builtins.set", False),
        ("builtins.eval", True),
        ("__builtin__.exec", True),
        ("builtins.getattr", True),
        ("os.system", True),
        ("subprocess.Popen", True),
        ("importlib.import_module", True),
        ("shutil.rmtree", True),
        ("runpy._run_code", True),
        ("commands.getoutput", True),
    ],
)
def test_what_may_be_replaced(name: str, refused: bool) -> None:
    assert could_be_meant_to_run(name) is refused


def test_a_stand_in_takes_anything_and_does_nothing() -> None:
    made = stand_in("some.Config")(1, "a")
    assert isinstance(made, Inert)
    assert class_name(made) == "some.Config"
    assert made.args == (1, "a")


@pytest.mark.parametrize("container", [dict, list])
def test_containers_are_plain_ones(container: type) -> None:
    assert isinstance(stand_in("some.Dict", container)(), container)
