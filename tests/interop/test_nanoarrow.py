"""nanoarrow reads what we write: the program's streams and the streams in its blocks."""

import os
import sys

import nanoarrow as na
import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import block_reader  # noqa: E402
from interop_support import (  # noqa: E402
    all_types,
    array,
    decoded,
    expect_equal,
    main,
    newer_types,
    run,
    table_of,
)

# What its reader of IPC refuses, in its own words.
NOT_READ = ("not supported", "not yet supported", "not yet implemented", "Unsupported")


def put(table):
    with pa.ipc.new_stream("in", table.schema) as writer:
        for batch in table.to_batches(max_chunksize=33):
            writer.write_batch(batch)


def by_nanoarrow(stream):
    """The table, or None where nanoarrow does not read the type."""
    try:
        with na.ArrayStream.from_readable(stream) as reader:
            return pa.RecordBatchReader.from_stream(reader).read_all()
    except na._utils.NanoarrowException as error:
        assert any(words in str(error) for words in NOT_READ), error
        return None


def inner_streams(layout):
    """The Arrow streams in the blocks that the program makes of the file "in"."""
    run("write", "in", "-o", "out", "--partitions", "1", "--codec", "none", "--layout", layout)
    with open("out/shuffle_0_0_0.data", "rb") as file:
        return list(block_reader.streams(file.read()))


def check_blocks(table, layout, what):
    parts = [by_nanoarrow(stream) for stream in inner_streams(layout)]
    if any(part is None for part in parts):
        return False
    expect_equal(pa.concat_tables(parts), table, f"{what}, blocks, {layout}")
    return True


def check(kind):
    """Whether nanoarrow reads the type."""
    table = table_of([kind], 100)
    put(table)
    got = by_nanoarrow(run("cat", "--format", "arrow", "in"))
    if got is None:
        return False
    expect_equal(got, table, f"{kind}, cat")
    return all([check_blocks(table, layout, str(kind)) for layout in ("compact", "arrow-rs")])


def test_every_type():
    kinds = all_types() + newer_types()
    skipped = [str(kind) for kind in kinds if not check(kind)]
    plain = [kind for kind in all_types() if decoded(kind) == kind]
    assert not any(str(kind) in skipped for kind in plain), skipped
    print(f"     nanoarrow does not read {', '.join(skipped) or 'nothing'}")


def test_types_together():
    table = table_of([kind for kind in all_types() if decoded(kind) == kind], 100)
    put(table)
    expect_equal(by_nanoarrow(run("cat", "--format", "arrow", "in")), table, "together, cat")
    for layout in ("compact", "arrow-rs"):
        assert check_blocks(table, layout, "together")


def test_no_rows():
    table = table_of([pa.string(), pa.list_(pa.int8())], 3).slice(0, 0)
    put(table)
    expect_equal(by_nanoarrow(run("cat", "--format", "arrow", "in")), table, "no rows")


if __name__ == "__main__":
    main(sys.modules[__name__])
