"""Tables of pyarrow through `ashuf write`, read by `ashuf cat` and by a reader written apart."""

import itertools
import os
import sys

import pyarrow as pa
import pyarrow.compute  # noqa: F401

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import block_reader  # noqa: E402
from interop_support import (  # noqa: E402
    all_types,
    expect_equal,
    leaf_types,
    main,
    nested_types,
    newer_types,
    read_stream,
    run,
    table_of,
    test_data,
)

TAGS = {"none": b"NONE", "lz4": b"LZ4_", "zstd": b"ZSTD", "snappy": b"SNAP"}
LAYOUTS = ("compact", "arrow-rs")
PARTITIONS = 3


def put(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=333):
            writer.write_batch(batch)


def in_order(table):
    return table.take(pa.compute.sort_indices(table.column("id")))


def by_id(batches):
    """Rows of batches, whose dictionaries may differ, sorted by id."""
    return in_order(pa.Table.from_batches(batches))


def shuffle(table, codec, layout, *more):
    put(table, "in")
    run("write", "in", "-o", "out", "--partitions", str(PARTITIONS), "--hash", "id",
        "--codec", codec, "--layout", layout, "--max-rows", "100", *more)  # fmt: skip
    found = []
    for ending in ("data", "index"):
        with open(f"out/shuffle_0_0_0.{ending}", "rb") as file:
            found.append(file.read())
    return found


def check(table, codec, layout, *more):
    what = " ".join((codec, layout, *more))
    data, index = shuffle(table, codec, layout, *more)
    found, flagged, filled = [], 0, 0
    for partition in block_reader.partitions(data, index):
        filled += len(partition) > 0
        for tag, flag, batch in block_reader.blocks(partition):
            assert tag == TAGS[codec], tag
            flagged += flag
            found.append(batch)
    assert filled == PARTITIONS
    assert all(batch.num_rows <= 100 for batch in found)
    expect_equal(by_id(found), table, f"blocks, {what}")
    got = read_stream(run("cat", "--format", "arrow", "out"))
    expect_equal(in_order(got), table, f"cat, {what}")
    return flagged


def test_every_codec_and_layout():
    plain = table_of(leaf_types() + nested_types(), 1000)
    for codec, layout in itertools.product(TAGS, LAYOUTS):
        check(plain, codec, layout)


def test_dictionaries_in_every_codec_and_layout():
    table = table_of(all_types(), 500)
    for codec, layout in itertools.product(TAGS, LAYOUTS):
        assert check(table, codec, layout) == 0, "lengths beside dictionaries"


def rows_by_id(batches):
    """Rows as text, for types that pyarrow does not sort."""
    rows = [zip(batch["id"].to_pylist(), batch["c0"].to_pylist()) for batch in batches]
    return sorted((number, repr(value)) for part in rows for number, value in part)


def check_rows(kind, codec, layout):
    what = f"{kind}, {codec}, {layout}"
    table = table_of([kind], 200)
    want = rows_by_id(table.to_batches())
    data, index = shuffle(table, codec, layout)
    parts = block_reader.partitions(data, index)
    found = [found for part in parts for found in block_reader.blocks(part)]
    assert not any(flag for _, flag, _ in found), f"{what}: lengths beside types without"
    assert all(batch.schema.field("c0").type == kind for _, _, batch in found), what
    assert rows_by_id([batch for _, _, batch in found]) == want, f"{what}, blocks"
    got = read_stream(run("cat", "--format", "arrow", "out"))
    assert rows_by_id(got.to_batches()) == want, f"{what}, cat"


def test_types_of_later_versions_in_every_codec_and_layout():
    for kind in newer_types():
        for codec, layout in itertools.product(TAGS, LAYOUTS):
            check_rows(kind, codec, layout)


def test_offsets_as_lengths_are_used_and_can_be_left_out():
    table = table_of([pa.string(), pa.list_(pa.int8()), pa.large_string()], 1000)
    for layout in LAYOUTS:
        assert check(table, "zstd", layout) > 0
        assert check(table, "zstd", layout, "--offsets-as-lengths", "off") == 0
        assert check(table, "none", layout) == 0


def test_levels():
    table = table_of(leaf_types(), 1000)
    for codec, level in (("zstd", "-5"), ("zstd", "19"), ("lz4", "9")):
        check(table, codec, "compact", "--level", level)


def test_no_columns_but_an_id_and_no_rows():
    check(table_of([], 1000), "lz4", "compact")
    table = table_of(all_types(), 3).slice(0, 0)
    data, index = shuffle(table, "zstd", "compact")
    assert data == b"" and block_reader.partitions(data, index) == [b""] * PARTITIONS


def test_real_rows():
    path = test_data("real", "flights-30k.arrow")
    if path is None:
        return
    with pa.ipc.open_file(path) as file:
        table = file.read_all()
    table = table.add_column(0, "id", pa.array(range(table.num_rows), pa.int64()))
    for codec, layout in itertools.product(TAGS, LAYOUTS):
        check(table, codec, layout)


if __name__ == "__main__":
    main(sys.modules[__name__])
