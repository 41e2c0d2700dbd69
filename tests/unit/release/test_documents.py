"""Bills of material, licences, sums and archives: what they say, and that it is the same again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from release import notices, sbom, sums
from release.archives import encoded, tar_gz, untar
from release.errors import ReleaseError
from release.locks import Pin
from release.notices import Notice

PINS = [Pin("torch", "2.15.0+cpu", "sys_platform == 'linux'", ("a" * 64, "b" * 64))]


def test_a_bill_has_each_file_that_may_be_installed() -> None:
    bill = sbom.document("image", "1.0", PINS, commit="c" * 40, epoch=0)
    (component,) = bill["components"]
    assert component["purl"] == "pkg:pypi/torch@2.15.0%2Bcpu"
    hashes = component["externalReferences"][0]["hashes"]
    assert [entry["content"] for entry in hashes] == list(PINS[0].hashes)
    assert component["properties"][0]["value"] == PINS[0].marker
    assert bill["dependencies"] == [
        {"ref": "pkg:generic/image@1.0", "dependsOn": [component["bom-ref"]]}
    ]
    assert bill["metadata"]["timestamp"] == "1970-01-01T00:00:00Z"


def test_another_commit_has_a_bill_of_another_number() -> None:
    numbers = {
        sbom.document("image", "1.0", PINS, commit=commit, epoch=0)["serialNumber"]
        for commit in ("c" * 40, "c" * 40, "d" * 40)
    }
    assert len(numbers) == 2


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"License-Expression": ["MIT"], "License": ["Other"]}, "MIT"),
        ({"License": ["BSD-3-Clause"]}, "BSD-3-Clause"),
        ({"License": ["UNKNOWN"]}, "not named in its metadata"),
        (
            {"License": ["Long\ntext"], "Classifier": ["License :: OSI Approved :: MIT License"]},
            "MIT License",
        ),
        ({"Classifier": ["Typing :: Typed"]}, "not named in its metadata"),
    ],
)
def test_the_licence_of_a_package(fields: Mapping[str, Sequence[str]], expected: str) -> None:
    assert notices.licence(fields) == expected


def test_the_page_says_so_when_a_package_has_no_licence_file() -> None:
    texts = (("LICENSE", "Take it."),)
    page = notices.page([Notice("b", "1", "MIT", ()), Notice("a", "2", "BSD", texts)])
    assert page.index("a 2: BSD") < page.index("b 1: MIT")
    assert "Take it." in page
    assert page.count("The package has no licence file.") == 1


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"a": "1", "b": "2"}, []),
        ({"a": "1"}, ["b is missing"]),
        ({"a": "1", "b": "2", "c": "3"}, ["c is not in the list"]),
        ({"a": "1", "b": "9"}, ["b has sha256 9, expected 2"]),
    ],
)
def test_what_differs_from_the_sums(found: dict[str, str], expected: list[str]) -> None:
    said = sums.parse(sums.text({"a": "1", "b": "2"}))
    assert sums.differences(said, found) == expected


def test_sums_that_are_no_list() -> None:
    with pytest.raises(ReleaseError, match="SumsMalformed"):
        sums.parse("nothing\n")


def test_an_archive_depends_on_its_contents_alone() -> None:
    forwards, backwards = {"a": b"1", "b": b"2"}, {"b": b"2", "a": b"1"}
    assert tar_gz(forwards, 7) == tar_gz(backwards, 7)
    assert untar(tar_gz(forwards, 7)) == forwards
    assert encoded({"a": 1, "b": 2}) == encoded({"b": 2, "a": 1})
