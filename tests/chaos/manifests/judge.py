"""What the product makes of a manifest file, and whether that is as promised.

A file is read as `modelexport run`, `render` and the operator read it. It is accepted, and then all
that follows from it is decided without an exception; or refused, and then each line of the message
names a field and can be printed.
"""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from chaos.manifests.consequences import check_export, check_trigger, observe_stored
from chaos.manifests.messages import problems_of_message
from chaos.manifests.trees import Place
from chaos.manifests.valid import is_trigger
from modelexport_api.problem import field_of
from modelexport_api.resource import ManifestError, ModelExport, one_document
from modelexport_api.rules import RULES
from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from modelexport_api.trigger_rules import TRIGGER_RULES
from modelexport_cli.manifest_file import export_in, read_text

SECONDS = 1.0
"""Of CPU time, for a file of up to 120 KiB, the most that a pod takes, with 20,000 values."""
_BYTES, _VALUES = 120 * 1024, 20_000
KIBIBYTES = 256 * 1024
_RULES = {*(rule.message for rule in RULES), *(rule.message for rule in TRIGGER_RULES)}


@dataclass(frozen=True)
class Answer:
    """What the product said to a file."""

    accepted: ModelExport | ModelExportTrigger | None = None
    document: object = None
    message: str = ""
    broken: list[str] = field(default_factory=list)
    """What was not as promised."""


def answer(path: Path, places: tuple[Place, ...] = ()) -> Answer:
    """Read a file as the product does; `places`: where it was changed."""
    data = path.read_bytes()
    began, memory = time.thread_time(), getrusage(RUSAGE_SELF).ru_maxrss
    try:
        with _older_objects_left_alone():
            found = _read(path)
    except Exception as error:  # noqa: BLE001 - that is what must not happen
        found = Answer(broken=[f"{type(error).__name__}: {_where(error)}"])
    seconds, grown = time.thread_time() - began, getrusage(RUSAGE_SELF).ru_maxrss - memory
    problems = [*found.broken, *_problems(found.message, path, places)]
    if seconds > SECONDS * max(1.0, len(data) / _BYTES, data.count(b",") / _VALUES):
        problems.append(f"{seconds:.1f} s")
    if grown > KIBIBYTES:
        problems.append(f"{grown // 1024} MiB more memory")
    return replace(found, broken=problems)


@contextmanager
def _older_objects_left_alone() -> Iterator[None]:
    """Keep the garbage collector from the millions of objects that tests before this one left."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _where(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{str(error)[:200]} ({Path(last.filename).name}:{last.lineno})"


def _read(path: Path) -> Answer:
    document: object = None
    try:
        document = one_document(read_text(path), str(path))
        if is_trigger(document):
            trigger = parse_trigger(document)
            return Answer(trigger, document, broken=[*check_trigger(trigger)])
        export = export_in(document, path)
    except ManifestError as error:
        broken = observe_stored(document) if isinstance(document, dict) else ()
        return Answer(None, document, str(error) or "no message", [*broken])
    return Answer(export, document, broken=[*check_export(export, document)])


def _problems(message: str, path: Path, places: tuple[Place, ...]) -> Iterator[str]:
    yield from problems_of_message(message)
    if message and places and not any(_names(message, path, place) for place in places):
        yield f"names none of {[field_of(place)[:80] for place in places]}: {message[:300]}"


def _names(message: str, path: Path, place: Place) -> bool:
    """Return whether a line is about a place, what contains it or is in it, a rule, or the file."""
    text = tuple(str(part).lower() if isinstance(part, bool) else part for part in place)
    wanted = _dotted(field_of(text))[:60]
    for line in message.split("\n"):
        named = _dotted(line.partition(": ")[0])
        if str(path) in named or line.startswith("the manifest"):
            return True
        if wanted.startswith(named) or named.startswith(wanted):
            return True
        if named.rpartition(".")[0] == wanted.rpartition(".")[0]:
            return True  # a neighbour, which is missing now
        if any(words in line for words in _RULES):
            return True
    return False


def _dotted(field: str) -> str:
    """Return a field with `.1` for `[1]`: a key of a mapping may be a number in YAML."""
    return field.replace("[", ".").replace("]", "")
