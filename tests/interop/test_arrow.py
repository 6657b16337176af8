"""Arrow IPC files and streams of pyarrow through ashuf and back."""

import os
import sys

import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from interop_support import (  # noqa: E402
    all_types,
    array,
    dictionary_types,
    expect_equal,
    fails,
    leaf_types,
    main,
    newer_types,
    read_stream,
    run,
    table_of,
    test_data,
)

ROWS = 100


def write(path, batches, kind, **options):
    schema = batches[0].schema
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with make(path, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return pa.Table.from_batches(batches)


def batches_of(table):
    """A whole batch, two slices of it at odd places and an empty one."""
    (whole,) = table.combine_chunks().to_batches()
    return [whole, whole.slice(13, 50), whole.slice(99, 1), whole.slice(5, 0)]


def check(batches, what, **options):
    for kind in ("stream", "file"):
        path = f"in.{kind}"
        want = write(path, batches, kind, **options)
        expect_equal(read_stream(run("cat", "--format", "arrow", path)), want, f"{what}, {kind}")


def test_every_type():
    for kind in all_types():
        check(batches_of(table_of([kind], ROWS)), str(kind))


def test_types_of_later_versions():
    for kind in newer_types():
        check(batches_of(table_of([kind], ROWS)), str(kind))
        check(batches_of(table_of([kind], ROWS)), f"{kind}, compressed", compression="zstd")


def test_later_types_in_old_metadata():
    # In V4 unions have a validity buffer, and pyarrow gives one to runs too, which are younger.
    for kind in newer_types():
        batches = batches_of(table_of([kind], ROWS))
        check(batches, f"{kind}, V4", metadata_version=pa.ipc.MetadataVersion.V4)
        check(batches, f"{kind}, legacy framing", use_legacy_format=True)


def test_every_body_compression():
    for codec in (None, "lz4", "zstd"):
        batches = batches_of(table_of(all_types(), ROWS))
        check(batches, f"body compression {codec}", compression=codec)


def test_old_framing_and_small_padding():
    batches = batches_of(table_of(all_types(), ROWS))
    check(batches, "legacy framing", use_legacy_format=True)
    check(batches, "V4", metadata_version=pa.ipc.MetadataVersion.V4)


def test_pipes_take_both_forms():
    for kind in ("stream", "file"):
        want = write("in", batches_of(table_of(leaf_types(), ROWS)), kind)
        with open("in", "rb") as file:
            got = read_stream(run("cat", "--format", "arrow", "-", stdin=file.read()))
        expect_equal(got, want, f"{kind} on standard input")


def test_many_rows_are_cut_and_kept():
    n = 700000
    table = pa.table({"id": pa.array(range(n)), "s": pa.array(["x" * (i % 90) for i in range(n)])})
    want = write("in", table.combine_chunks().to_batches(), "stream")
    expect_equal(read_stream(run("cat", "--format", "arrow", "in")), want, "many rows")


# ---- Dictionaries -------------------------------------------------------------------------------


def dictionary_batches(kind):
    """Batches whose dictionaries are replaced, then only grow."""
    plain = array(kind.value_type, 60).drop_null().unique()
    cuts = [(0, 3), (5, 9), (5, 14), (5, 20)]
    for start, end in cuts:
        values = plain.slice(start, end - start)
        indices = [i % len(values) if i % 4 else None for i in range(30)]
        column = pa.DictionaryArray.from_arrays(pa.array(indices, kind.index_type), values)
        yield pa.record_batch([column], names=["d"])


def growing_types():
    texts = [kind for kind in dictionary_types() if pa.types.is_dictionary(kind)]
    more = [pa.binary(5), pa.float64(), pa.date32(), pa.decimal128(20, 2), pa.binary()]
    return texts + [pa.dictionary(pa.int16(), kind) for kind in more]


def test_dictionaries_are_replaced():
    for kind in growing_types():
        want = write("in", list(dictionary_batches(kind)), "stream")
        expect_equal(read_stream(run("cat", "--format", "arrow", "in")), want, str(kind))


def test_dictionaries_grow_by_deltas():
    for kind in growing_types():
        for form in ("stream", "file"):
            batches = list(dictionary_batches(kind))
            batches = batches[1:] if form == "file" else batches
            for codec in (None, "zstd"):
                want = write("in", batches, form, emit_dictionary_deltas=True, compression=codec)
                got = read_stream(run("cat", "--format", "arrow", "in"))
                expect_equal(got, want, f"deltas of {kind}, {form}, {codec}")


# ---- Refusals -----------------------------------------------------------------------------------


def test_other_data_is_refused():
    for name, content in (("empty", b""), ("text", b"a,b\n1,2\n" * 9), ("zeros", bytes(99))):
        with open(name, "wb") as file:
            file.write(content)
        status, message = fails("cat", name)
        assert status == 1 and name in message and message.count("\n") == 1, message


# ---- Shared data --------------------------------------------------------------------------------


def test_real_rows():
    for name in ("flights-30k.arrow", "flights-30k-dict.arrows"):
        path = test_data("real", name)
        if path is None:
            continue
        opened = pa.ipc.open_file(path) if name.endswith(".arrow") else pa.ipc.open_stream(path)
        expect_equal(read_stream(run("cat", "--format", "arrow", path)), opened.read_all(), name)


if __name__ == "__main__":
    main(sys.modules[__name__])
