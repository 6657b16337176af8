"""Streams that arrow-go wrote, of every type it has: read as streams and as blocks. They are in
arrow_go/streams, with the program that made them beside them, so that no Go is needed here."""

import glob
import os
import sys

import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ipc_values  # noqa: E402
from interop_support import main, run  # noqa: E402

STREAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrow_go", "streams")
# What our own reader in Python leaves to pyarrow: compressed bodies, dictionaries appended to.
BY_PYARROW = ("delta", "lz4", "zstd")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def columns(stream):
    """Values by column, batches joined."""
    decoded = ipc_values.decode(stream)
    return [sum(parts, []) for parts in zip(*decoded.batches)]


def expect_same(theirs, ours, name):
    if name in BY_PYARROW:
        with pa.ipc.open_stream(theirs) as a, pa.ipc.open_stream(ours) as b:
            assert a.read_all().to_pylist() == b.read_all().to_pylist(), name
    else:
        assert columns(theirs) == columns(ours), name


def streams():
    """(name, path, whether it is one batch)"""
    paths = sorted(glob.glob(os.path.join(STREAMS, "*.arrows")))
    assert len(paths) >= 100, len(paths)
    for path in paths:
        name = os.path.basename(path).removesuffix(".arrows")
        yield name, path, name not in ("delta", "replaced")


def test_streams_equal_what_they_hold():
    for name, path, _ in streams():
        expect_same(read(path), run("cat", "--format", "arrow", path), name)


def test_a_stream_in_a_block_is_read():
    for name, path, single in streams():
        if not single:
            continue
        stream = read(path)
        with open("one.data", "wb") as file:  # length, two columns, codec
            file.write((len(stream) + 12).to_bytes(8, "little") + (2).to_bytes(8, "little"))
            file.write(b"NONE" + stream)
        expect_same(stream, run("cat", "--format", "arrow", "one.data"), name)


def test_rows_survive_our_blocks():
    for name, path, _ in streams():
        for layout in ("compact", "arrow-rs"):
            run("write", path, "-o", "out", "--partitions", "1", "--layout", layout)
            expect_same(read(path), run("cat", "--format", "arrow", "out"), name)


if __name__ == "__main__":
    main(sys.modules[__name__])
