"""The one document in a text: a manifest as YAML or JSON, or what is there instead."""

from __future__ import annotations

import json

import yaml

from modelexport_api import API_VERSION, KIND
from modelexport_api.printable import message
from modelexport_api.yaml_text import KeyTwiceError, load_all

_SKELETON = f"apiVersion: {API_VERSION}, kind: {KIND}, metadata and spec"
_SHOWN = 80


class ManifestError(ValueError):
    """An invalid manifest; the message has one line for each error, 50 at most."""

    def __init__(self, text: str) -> None:
        super().__init__(message(text))


def one_document(text: str, subject: str = "the manifest") -> object:
    """Return the one document in a YAML text, for `parse`. Raises ManifestError about `subject`."""
    try:
        documents = load_all(text)
    except yaml.MarkedYAMLError as error:
        raise ManifestError(f"{subject} is not {_syntax_problem(text, error)}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an integer of 5,000 digits
        raise ManifestError(f"{subject} is not YAML: {error}") from None
    except RecursionError:
        raise ManifestError(f"{subject} is nested too deeply") from None
    if not documents:
        raise ManifestError(
            f"{subject} is empty: expected one {KIND}, found 0 documents; write {_SKELETON}"
        )
    if len(documents) > 1:
        raise ManifestError(
            f"expected one {KIND} in {subject}, found {len(documents)} documents: "
            f"{_list(documents)}; write each to a file of its own"
        )
    return documents[0]


def not_a_manifest(document: object) -> ManifestError:
    """Return the error for a document that is no mapping."""
    if isinstance(document, list):
        found = "a list"
        advice = f"write one {KIND}, without the `-` before it"
    else:
        found = f"{type(document).__name__} {str(document)[:_SHOWN]!r}".replace("str ", "the text ")
        advice = f"write {_SKELETON}"
    return ManifestError(
        "the manifest is not a YAML mapping with apiVersion, kind and spec: found "
        f"{found}; {advice}"
    )


def _list(documents: list[object]) -> str:
    names = []
    for document in documents[:4]:
        found = document if isinstance(document, dict) else {}
        meta = found.get("metadata")
        name = meta.get("name", "") if isinstance(meta, dict) else ""
        names.append(f"{found.get('kind', 'no kind')} {name}".strip())
    return ", ".join(names) + ", …" * (len(documents) > len(names))


def _syntax_problem(text: str, error: yaml.MarkedYAMLError) -> str:
    """Return `YAML: line 3, column 1: …` with the line and what to write."""
    if text.lstrip()[:1] == "{":
        try:
            json.loads(text)
        except ValueError as of_json:
            if not isinstance(error, KeyTwiceError):
                return f"JSON, nor YAML: {of_json}"
    mark, began = error.problem_mark, error.context_mark
    if mark is None:
        return f"YAML: {error}"
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    where = f"YAML: line {mark.line + 1}, column {mark.column + 1}"
    if "\t" in line[: mark.column + 1]:
        tab = "found a tab; expected spaces, the only indentation that YAML has"
        return f"{where}: {tab}; replace the tab before {line.strip()[:_SHOWN]!r} with spaces"
    problem = error.problem or "cannot be read"
    if began is not None and began.line < len(lines) and "flow" in str(error.context):
        opening = lines[began.line][began.column : began.column + 1]
        return (
            f"{where}: {problem}; close the {opening} of line {began.line + 1}: "
            f"{lines[began.line].strip()[:_SHOWN]!r}, and write commas between its entries"
        )
    if mark.line >= len(lines):
        return f"{where}: {problem}: the text ends too early; close each bracket and each quote"
    since = f" ({error.context}, line {began.line + 1})" if error.context and began else ""
    return f"{where}: {problem}{since}; correct {line.strip()[:_SHOWN]!r}{_advice(problem)}"


def _advice(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return (
            ": put a value that contains `: ` in quotes, and indent the fields of a mapping alike"
        )
    if "could not find expected ':'" in problem:
        return ": a space must follow the colon of a key"
    return ""
