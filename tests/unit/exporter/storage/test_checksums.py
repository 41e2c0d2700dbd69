"""Checksums of S3 objects, as their server names them and as they are computed."""

from __future__ import annotations

import base64
import hashlib
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.storage.checksums import (
    Checksum,
    Running,
    checksum_of,
    equal_parts,
)

MD5 = hashlib.md5(b"x", usedforsecurity=False)
CRC = zlib.crc32(b"x").to_bytes(4, "big")
CRC_TEXT = base64.b64encode(CRC).decode()


@pytest.mark.parametrize(
    ("head", "bucket", "expected"),
    [
        ({"ChecksumCRC32": CRC_TEXT}, "b", Checksum("CRC32", CRC)),
        ({"ChecksumCRC32": f"{CRC_TEXT}-3"}, "b", Checksum("CRC32", CRC, 3)),
        (
            {"ChecksumSHA256": "AAAA", "ChecksumCRC32": CRC_TEXT, "ETag": f'"{MD5.hexdigest()}"'},
            "b",
            Checksum("CRC32", CRC),
        ),
        ({"ETag": f'"{MD5.hexdigest()}"'}, "b", Checksum("MD5", MD5.digest())),
        ({"ETag": f'"{MD5.hexdigest()}-2"'}, "b", Checksum("MD5", MD5.digest(), 2)),
        ({"ETag": f'"{MD5.hexdigest()}"', "SSEKMSKeyId": "k"}, "b", None),
        ({"ETag": f'"{MD5.hexdigest()}"', "SSECustomerAlgorithm": "AES256"}, "b", None),
        ({"ETag": f'"{MD5.hexdigest()}"'}, "b--use1-az4--x-s3", None),
        ({"ETag": '"0x8DCAF"'}, "b", None),
        ({}, "b", None),
    ],
)
def test_the_fastest_checksum_that_can_be_used(
    head: dict[str, Any], bucket: str, expected: Checksum | None
) -> None:
    assert checksum_of(head, bucket) == expected


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    # The check values of the catalogue of parametrised CRC algorithms, and of the digests' RFCs.
    [
        ("CRC32", "cbf43926"),
        ("CRC32C", "e3069283"),
        ("CRC64NVME", "ae8b14860a799888"),
        ("SHA1", "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
        ("SHA256", "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"),
        ("MD5", "25f9e794323b453885f5181f1b624d0b"),
    ],
)
def test_known_values(algorithm: str, expected: str) -> None:
    running = Running(algorithm)
    running.update(b"1234")
    running.update(b"56789")
    assert running.digest().hex() == expected


@given(
    parts=st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=6),
    block=st.integers(1, 12),
)
def test_checksums_of_parts_do_not_depend_on_blocks(parts: list[bytes], block: int) -> None:
    content = b"".join(parts)
    running = Running("MD5", [len(part) for part in parts])
    for start in range(0, len(content), block):
        running.update(content[start : start + block])
    own = [hashlib.md5(part, usedforsecurity=False).digest() for part in parts]
    assert running.digest() == hashlib.md5(b"".join(own), usedforsecurity=False).digest()


@pytest.mark.parametrize(
    ("size", "first", "count", "expected"),
    [
        (19, 8, 3, (8, 8, 3)),
        (16, 8, 2, (8, 8)),
        (5, 8, 1, (5,)),
        (19, 5, 3, None),
        (19, 0, 3, None),
    ],
)
def test_parts_of_one_size(
    size: int, first: int, count: int, expected: tuple[int, ...] | None
) -> None:
    assert equal_parts(size, first, count) == expected
