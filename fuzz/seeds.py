#!/usr/bin/env python3
"""Cuts a fuzz target's seeds out of the test data, where ASHUF_TEST_DATA says that it is.

  seeds.py <target> <folder>

Blocks come from the shuffle files and golden blocks, streams from NONE blocks and IPC files,
metadata from the messages of streams. Files above 64 KiB are left out.
"""

import os
import pathlib
import struct
import sys

MOST = 65536
MOST_FILES = 600


def blocks_of(data):
    """The blocks of a data file, as long as they look like blocks."""
    at = 0
    while at + 20 <= len(data):
        size = struct.unpack_from("<q", data, at)[0] + 8
        if size < 20 or at + size > len(data):
            return
        yield data[at : at + size]
        at += size


def files(folder, *endings):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in endings:
            yield path.read_bytes()


def blocks(data):
    for content in files(data / "comet", ".data"):
        yield from list(blocks_of(content))[:3]
    yield from files(data / "own_golden", ".bin")


def streams(data):
    for folder in ("ipc_cases", "ipc_golden", "own_golden"):
        yield from files(data / folder, ".stream", ".arrow", ".arrows")
    yield from files(data / "ipc_fuzz", ".fuzz", "")
    yield from files(data / "sizes", ".arrow")
    for block in blocks(data):
        if block[16:20] == b"NONE":
            yield block[20:]


def metadata(data):
    for stream in streams(data):
        at = 0
        while at + 8 <= len(stream):
            prefix = 8 if stream[at : at + 4] == b"\xff" * 4 else 4
            (size,) = struct.unpack_from("<i", stream, at + prefix - 4)
            if size <= 0 or at + prefix + size > len(stream):
                break
            yield stream[at + prefix : at + prefix + size]
            break


def codecs(data):
    numbers = {b"NONE": 0, b"LZ4_": 1, b"ZSTD": 2, b"SNAP": 3}
    for block in blocks(data):
        tag = bytes([block[16] & 0x7F]) + block[17:20]
        if tag in numbers:
            yield bytes([numbers[tag] | 4, 0, 1]) + block[20:]


def indexes(data):
    for path in sorted((data / "comet").rglob("*.index")):
        beside = path.with_suffix(".data")
        size = beside.stat().st_size if beside.exists() else 0
        yield struct.pack("<Q", size) + path.read_bytes()


KINDS = {
    "fuzz_block_decode": blocks,
    "fuzz_round_trip": blocks,
    "fuzz_decode_options": blocks,
    "fuzz_metadata": metadata,
    "fuzz_codec": codecs,
    "fuzz_index": indexes,
    "fuzz_ipc_file": streams,
}


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    root = os.environ.get("ASHUF_TEST_DATA")
    if not root:
        return
    written = 0
    for content in KINDS[target](pathlib.Path(root) / "data"):
        if len(content) <= MOST and written < MOST_FILES:
            (folder / f"seed_{written:04}").write_bytes(content)
            written += 1


main()
