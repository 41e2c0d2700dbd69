"""Honest checkpoints that were cut off, changed by a bit, or overwritten in part."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from chaos.hostile_files import honest
from chaos.hostile_files.trial import Hostile


def cut(content: bytes, draw: random.Random) -> bytes:
    """Return the beginning."""
    return content[: draw.randrange(len(content))]


def flipped(content: bytes, draw: random.Random) -> bytes:
    """Return the content with one bit that differs."""
    changed = bytearray(content)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def overwritten(content: bytes, draw: random.Random) -> bytes:
    """Return the content with 1 to 64 random bytes at one place."""
    length = draw.randrange(1, 65)
    begin = draw.randrange(max(1, len(content) - length))
    return content[:begin] + draw.randbytes(length) + content[begin + length :]


def without(content: bytes, draw: random.Random) -> bytes:
    """Return the content without some bytes in the middle."""
    begin = draw.randrange(len(content))
    return content[:begin] + content[begin + draw.randrange(1, 256) :]


Damage = Callable[[bytes, random.Random], bytes]
DAMAGES: dict[str, Damage] = {
    "cut off": cut,
    "a bit flipped": flipped,
    "overwritten": overwritten,
    "bytes missing": without,
}


def hostile(files: Path, seed: int, rounds: int = 3) -> Iterator[Hostile]:
    """Yield `rounds` of each damage to each honest file."""
    for number in range(rounds):
        for name in honest.NAMES:
            for kind, damage in DAMAGES.items():
                draw = f"{seed} {number} {name} {kind}"

                def make(
                    directory: Path,
                    _canary: Path,
                    name: str = name,
                    damage: Damage = damage,
                    draw: str = draw,
                ) -> Path:
                    content = (files / name).read_bytes()
                    path = directory / name
                    path.write_bytes(damage(content, random.Random(draw)))
                    return path

                # Nothing protects all bytes of these formats: a bit of a weight, or of a name of
                # an archive's comment, is another weight or comment.
                yield Hostile("damaged", f"{name}, {kind}, {number}", make, may_succeed=True)
