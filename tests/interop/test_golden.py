"""Streams of many implementations and versions: values, types and metadata are those of the JSON
beside them, read as streams and after they have been blocks in both layouts."""

import os
import sys

import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import golden_json  # noqa: E402
import ipc_values  # noqa: E402
from interop_support import main, refused, run, test_data  # noqa: E402


def pairs(big_endian=False):
    """(path of the stream, path of the JSON)."""
    root = test_data("ipc_golden")
    if root is None:
        print("no test data: skipped")
        sys.exit(77)
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if name.endswith(".stream") and ("bigendian" in folder) == big_endian:
                path = os.path.join(folder, name)
                yield path, path.replace(".stream", ".json.gz")


def read_pairs():
    """(path of the stream, what it holds)."""
    for path, json_path in pairs():
        yield path, golden_json.read(json_path)


def expect_values(got, want, what):
    assert len(got.fields) == len(want.fields), what
    assert sum(got.rows) == sum(want.rows), f"{what}: {sum(got.rows)} rows"
    for field, a, b in zip(want.fields, got.columns(), want.columns()):
        for row, (x, y) in enumerate(zip(a, b)):
            assert repr(x) == repr(y), f"{what}: {field.name}: row {row}: {x}, not {y}"


def all_fields(fields):
    for field in fields:
        yield field
        yield from all_fields(field.children)


def expect_types(got, want, what):
    for a, b in zip(got.fields, want.fields):
        assert a.shape() == b.shape(), f"{what}: {a.shape()}, not {b.shape()}"
    for a, b in zip(all_fields(got.fields), all_fields(want.fields)):
        assert a.metadata == b.metadata, f"{what}: {a.name}: metadata {a.metadata}"


def test_streams_equal_their_json():
    compared = 0
    for path, want in read_pairs():
        out = run("cat", "--format", "arrow", path)
        got = ipc_values.decode(out)
        expect_values(got, want, path)
        expect_types(got, want, path)
        compared += 1
    assert compared >= 60, compared


def test_schemas_keep_their_metadata():
    seen = 0
    for path, want in read_pairs():
        got = ipc_values.decode(run("cat", "--format", "arrow", path))
        assert got.metadata == want.metadata, f"{path}: {got.metadata}"
        seen += bool(want.metadata)
    assert seen >= 1


def test_pyarrow_reads_the_same_types():
    for path, _ in read_pairs():
        with pa.ipc.open_stream(run("cat", "--format", "arrow", path)) as reader:
            table = reader.read_all()
        # Some have dates that are no whole days and decimals of too many digits.
        table.validate(full=False)


def test_blocks_equal_their_json():
    compared = 0
    for layout in ("compact", "arrow-rs"):
        for path, want in read_pairs():
            if sum(want.rows) == 0:
                continue
            run("write", path, "-o", "out", "--partitions", "1", "--layout", layout)
            got = ipc_values.decode(run("cat", "--format", "arrow", "out"))
            expect_values(got, want, f"{path} in blocks, {layout}")
            expect_types(got, want, f"{path} in blocks, {layout}")
            compared += 1
    assert compared >= 100, compared


def test_big_endian_is_refused():
    found = list(pairs(big_endian=True))
    assert len(found) >= 20
    for path, _ in found:
        message = refused("cat", path)
        assert "big-endian" in message, message


if __name__ == "__main__":
    main(sys.modules[__name__])
