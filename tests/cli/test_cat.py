"""ashuf cat and info: formats, selection, and what an input may be."""

import json
import os
import shutil
import subprocess

from cli_support import (BAD_DATA, GOOD, IO, SMALL_CSV, USAGE, Skip, ashuf, data, expect, get,
                         main, put, small, write_small)

HEADER = SMALL_CSV.split("\n", 1)[0] + "\n"

BOX = """\
┌──────────────────┬────────────────┬──────────┬────────────┐
│               id │ name           │    price │ day        │
│            int64 │ utf8           │  float64 │ date32     │
├──────────────────┼────────────────┼──────────┼────────────┤
│                1 │ plain          │      0.1 │ 1970-01-01 │
│                2 │                │      NaN │ 2024-02-29 │
│                3 │ comma, "quote" │ Infinity │ NULL       │
│                4 │ two\\nlines     │     -0.0 │ 0001-01-01 │
│                5 │ NULL           │     NULL │ 1969-12-31 │
│ 9007199254740993 │ Grüße 日本     │    1e+21 │ 9999-12-31 │
└──────────────────┴────────────────┴──────────┴────────────┘
"""

JSONL = [
    '{"id":1,"name":"plain","price":0.1,"day":"1970-01-01","at":"1970-01-01T00:00:00.000000Z",'
    '"sum":"0.00","raw":"","ok":true,"tags":["a","b"]}',
    '{"id":2,"name":"","price":"NaN","day":"2024-02-29","at":"1969-12-31T23:59:59.999999Z",'
    '"sum":"-0.05","raw":"00ff","ok":false,"tags":[]}',
    '{"id":3,"name":"comma, \\"quote\\"","price":"Infinity","day":null,"at":null,'
    '"sum":"12345678.90","raw":null,"ok":null,"tags":null}',
    '{"id":4,"name":"two\\nlines","price":-0.0,"day":"0001-01-01",'
    '"at":"2024-02-29T12:34:56.123456Z","sum":null,"raw":"616263","ok":true,'
    '"tags":[null,"x\\"y"]}',
    '{"id":5,"name":null,"price":null,"day":"1969-12-31","at":"1970-01-01T00:00:00.000001Z",'
    '"sum":"1.00","raw":"0a","ok":false,"tags":["é"]}',
    '{"id":9007199254740993,"name":"Grüße 日本","price":1e+21,"day":"9999-12-31",'
    '"at":"9999-12-31T23:59:59.999999Z","sum":"-99999999.99","raw":"22","ok":true,"tags":[""]}',
]


def first_columns(box, n):
    """A box without what is right of its first n columns."""
    lines = []
    for line in box.splitlines():
        if line[0] == "│":
            lines.append("│".join(line.split("│")[: n + 1]) + "│")
        elif line[0] in "┌├└":
            middle = {"┌": "┬", "├": "┼", "└": "┴"}[line[0]]
            end = {"┌": "┐", "├": "┤", "└": "┘"}[line[0]]
            lines.append(middle.join(line.split(middle)[:n]) + end)
    return "\n".join(lines) + "\n"


def test_csv_is_the_default_in_a_pipe():
    write_small("--partitions", "1")
    expect(ashuf("cat", "out"), GOOD, out=SMALL_CSV, err="")
    expect(ashuf("cat", "out", "--format", "csv"), GOOD, out=SMALL_CSV, err="")


def test_what_an_input_may_be():
    write_small("--partitions", "1")
    for path in ("small.arrows", "out/shuffle_0_0_0.data", "out/shuffle_0_0_0.index", "out/"):
        expect(ashuf("cat", path), GOOD, out=SMALL_CSV, err="")
    expect(ashuf("cat", "-", stdin=small()), GOOD, out=SMALL_CSV, err="")
    shutil.copy("out/shuffle_0_0_0.data", "alone")  # no index, no telling name
    expect(ashuf("cat", "alone"), GOOD, out=SMALL_CSV, err="")


def test_a_named_pipe_is_read_once():
    put("small.arrows", small())
    os.mkfifo("pipe")
    writer = subprocess.Popen(["sh", "-c", "cat small.arrows > pipe"])
    expect(ashuf("cat", "pipe"), GOOD, out=SMALL_CSV, err="")
    assert writer.wait(timeout=20) == 0


def test_an_arrow_file_as_well_as_a_stream():
    try:
        import pyarrow as pa
    except ImportError as why:
        raise Skip("no pyarrow") from why
    table = pa.ipc.open_stream(small()).read_all()
    for compression in (None, "lz4", "zstd"):
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file("small.arrow", table.schema, options=options) as writer:
            writer.write_table(table)
        expect(ashuf("cat", "small.arrow"), GOOD, out=SMALL_CSV, err="")


def test_several_inputs_have_one_header():
    write_small("--partitions", "1")
    out = expect(ashuf("cat", "out", "small.arrows"), GOOD, err="").out
    assert out == SMALL_CSV + SMALL_CSV[len(HEADER):]


def test_limit():
    write_small("--partitions", "1")
    for path in ("out", "small.arrows"):
        expect(ashuf("cat", path, "--limit", "0"), GOOD, out=HEADER, err="")
        out = expect(ashuf("cat", path, "--limit", "2"), GOOD, err="").out
        assert SMALL_CSV.startswith(out) and out.count("\n") == 3
        expect(ashuf("cat", path, "--limit", "99"), GOOD, out=SMALL_CSV, err="")


def test_partition():
    write_small("--partitions", "3", "--hash", "id")
    rows = []
    for partition in range(3):
        out = expect(ashuf("cat", "out", "--partition", partition), GOOD, err="").out
        rows += out.splitlines(True)[1:]
    whole = expect(ashuf("cat", "out"), GOOD, err="").out
    assert "".join(rows) == whole[len(HEADER):]
    expect(ashuf("cat", "out", "--partition", "3"), USAGE, out="",
           err="ashuf: cat: --partition: out/shuffle_0_0_0.data has 3 partitions, so there is no 3\n")
    expect(ashuf("cat", "small.arrows", "--partition", "0"), USAGE, out="",
           err="ashuf: cat: --partition: small.arrows is Arrow IPC and has no partitions\n")


def test_ranges_columns_and_parts():
    write_small("--partitions", "3", "--hash", "id")
    body = expect(ashuf("cat", "out"), GOOD, err="").out[len(HEADER):]
    first = expect(ashuf("cat", "out", "--partition", "..1"), GOOD, err="").out[len(HEADER):]
    rest = expect(ashuf("cat", "out", "--partition", "1..3", "--threads", "2",
                        "--batch-rows", "100"), GOOD, err="").out
    assert first + rest[len(HEADER):] == body
    parts = [expect(ashuf("cat", "out", "--part", f"{k}/2"), GOOD, err="").out for k in range(2)]
    assert sorted("".join(part[len(HEADER):] for part in parts)) == sorted(body)
    ids = expect(ashuf("cat", "out", "--columns", "id"), GOOD, err="").out.splitlines()
    assert ids[0] == "id" and sorted(ids[1:]) == ["1", "2", "3", "4", "5", "9007199254740993"]
    assert expect(ashuf("cat", "out", "--partition", "2..2"), GOOD, err="").out == ""
    assert expect(ashuf("cat", "out", "--map", "0"), GOOD, err="").out == HEADER + body
    for bad in (("--partition", "2..1"), ("--partition", ".."), ("--map", "a..b"),
                ("--map", "1..2"), ("--map", "1"), ("--map", "1.."), ("--partition", "3.."),
                ("--part", "2/2"), ("--columns", "none"), ("--partition", "0..4")):
        expect(ashuf("cat", "out", *bad), USAGE, out="")


def arrow():
    try:
        import pyarrow
    except ImportError as why:
        raise Skip("no pyarrow") from why
    return pyarrow


def csv_rows(*options):
    """Lines without the header; the first column is a number of its own for each row."""
    return expect(ashuf("cat", *options), GOOD, err="").out.splitlines()[1:]


def write_maps(n, rows=200, partitions=8):
    """n map outputs in out; rows are (m, i, text)."""
    pa = arrow()
    for m in range(n):
        batch = pa.record_batch({"m": pa.array([m] * rows, pa.int32()), "i": list(range(rows)),
                                 "t": [f"{i % 7}" * 9 for i in range(rows)]})
        with pa.ipc.new_stream(f"{m}.arrows", batch.schema) as writer:
            writer.write_batch(batch)
    expect(ashuf("write", *[f"{m}.arrows" for m in range(n)], "-o", "out", "--partitions",
                 partitions, "--hash", "i", "--max-rows", "5", "--checksum", "crc32c"), GOOD,
           err="")


def test_t29_maps_partitions_and_parts():
    write_maps(8)
    whole = csv_rows("out")
    assert len(whole) == 1600
    by_map = [csv_rows(f"out/shuffle_0_{m}_0.data") for m in range(8)]
    assert whole == sum(by_map, [])
    for m, rows in enumerate(by_map):
        assert {row.split(",")[0] for row in rows} == {str(m)}
        assert csv_rows("out", "--map", m) == rows
    of_maps = csv_rows("out", "--partition", "3", "--map", "5..7")
    assert of_maps == sum((csv_rows(f"out/shuffle_0_{m}_0.data", "--partition", 3)
                           for m in (5, 6)), [])
    assert 0 < len(of_maps) < 400
    some = csv_rows("out", "--partition", "2..6", "--threads", "2")
    assert some == sum((csv_rows(f"out/shuffle_0_{m}_0.data", "--partition", f"{p}")
                        for m in range(8) for p in range(2, 6)), [])
    for extra in ([], ["--threads", "2", "--batch-rows", "64"]):
        parts = [expect(ashuf("cat", "out", "--partition", "3", "--part", f"{k}/3", *extra), GOOD)
                 for k in range(3)]
        assert all(part.out.count("\n") > 1 for part in parts)
        rows = sum((part.out.splitlines()[1:] for part in parts), [])
        assert sorted(rows) == sorted(csv_rows("out", "--partition", "3"))
        told = "parts of partitions are not compared with their checksums"
        assert parts[0].err.count(told) == 8, parts[0].err
    assert expect(ashuf("cat", "out", "--partition", "3", "--part", "0/3", "--verify", "off"),
                  GOOD, err="")
    expect(ashuf("cat", "out", "--map", "7..9"), USAGE, out="",
           err="ashuf: cat: --map: there are 8 map outputs, so there is no 8\n")


def test_small_blocks_of_all_map_outputs_are_put_together():
    pa = arrow()
    write_maps(4)
    sizes = {}
    for rows in (0, 100, 8192):
        out = expect(ashuf("cat", "out", "--format", "arrow", "--batch-rows", rows), GOOD, err="")
        batches = list(pa.ipc.open_stream(out.bytes))
        sizes[rows] = [batch.num_rows for batch in batches]
        assert sum(sizes[rows]) == 800 and max(sizes[rows]) <= (rows or 5)
    assert len(sizes[8192]) == 1 and len(sizes[100]) <= 9 and len(sizes[0]) >= 160
    default = expect(ashuf("cat", "out", "--format", "arrow"), GOOD).bytes
    assert [batch.num_rows for batch in pa.ipc.open_stream(default)] == [800]


def test_a_column_may_be_encoded_in_two_ways():
    """T50: one map output has a dictionary where the other has values."""
    pa = arrow()
    words = pa.array(["x", "y", None, "x"])
    for m, column in enumerate((words.dictionary_encode(), words)):
        batch = pa.record_batch([column], ["w"])
        with pa.ipc.new_stream(f"{m}.arrows", batch.schema) as writer:
            writer.write_batch(batch)
        expect(ashuf("write", f"{m}.arrows", "-o", "out", "--partitions", "1", "--map-id", m), GOOD)
    assert csv_rows("out") == ["x", "y", "", "x"] * 2
    out = expect(ashuf("cat", "out", "--format", "arrow"), GOOD, err="").bytes
    (batch,) = pa.ipc.open_stream(out)
    assert batch.column(0).to_pylist() == ["x", "y", None, "x"] * 2


def test_damage_in_one_of_several_names_its_file():
    write_maps(3)
    name = "out/shuffle_0_1_0.data"
    raw = bytearray(get(name))
    raw[-1] ^= 1
    put(name, bytes(raw))
    for extra in ([], ["--verify", "trailing"], ["--threads", "2"]):
        result = expect(ashuf("cat", "out", *extra), BAD_DATA)
        assert result.err.startswith(f"ashuf: {name}: partition 7, "), result.err
        assert result.err.count("\n") == 1


def test_columns_of_arrow_files():
    pa = arrow()
    put("small.arrows", small())
    write_small("--partitions", "1")
    for path in ("small.arrows", "out"):
        out = expect(ashuf("cat", path, "--columns", "sum,id", "--limit", "2"), GOOD, err="").out
        assert out == "sum,id\n0.00,1\n-0.05,2\n"
        out = expect(ashuf("cat", path, "--columns", "tags,name", "--format", "arrow"), GOOD).bytes
        table = pa.ipc.open_stream(out).read_all()
        assert table == pa.ipc.open_stream(small()).read_all().select(["tags", "name"])
        for columns, text in (("nme", "nme"), ("id,id", "twice"), ('"id', "not closed"), ("", "")):
            result = expect(ashuf("cat", path, "--columns", columns), USAGE, out="")
            assert text in result.err and result.err.count("\n") == 1, (columns, result.err)
    both = expect(ashuf("cat", "out", "small.arrows", "--columns", "name"), GOOD, err="").out
    assert both.count("plain") == 2
    batch = pa.record_batch([pa.array([1, 2]), pa.array([3, 4])], ["a,b", "c"])
    with pa.ipc.new_stream("odd.arrows", batch.schema) as writer:
        writer.write_batch(batch.slice(1))
    expect(ashuf("write", "odd.arrows", "-o", "odd", "--partitions", "1", "--checksum", "crc32"),
           GOOD)
    for path in ("odd.arrows", "odd"):
        expect(ashuf("cat", path, "--columns", 'c,"a,b"'), GOOD, out='c,"a,b"\n4,2\n', err="")


def test_box():
    put("small.arrows", small())
    out = expect(ashuf("cat", "small.arrows", "--format", "box"), GOOD, err="").out
    assert first_columns(out, 4) == BOX, first_columns(out, 4)
    assert out.endswith("\n6 rows, 9 columns\n")
    assert len({len(line.encode("utf-16-le")) for line in out.splitlines()[:9]}) == 1


def test_box_of_many_rows_has_head_and_tail():
    put("small.arrows", small())
    out = expect(ashuf("cat", *["small.arrows"] * 7, "--format", "box"), GOOD, err="").out
    lines = out.splitlines()
    assert lines[-1] == "42 rows (40 shown), 9 columns"
    ids = [line.split("│")[1].strip() for line in lines[4:-2]]
    cycle = ["1", "2", "3", "4", "5", "9007199254740993"] * 7
    assert ids == cycle[:20] + ["·"] + cycle[22:], ids
    out = expect(ashuf("cat", *["small.arrows"] * 6, "--format", "box"), GOOD, err="").out
    assert out.endswith("\n36 rows, 9 columns\n") and "·" not in out


def test_jsonl():
    write_small("--partitions", "1")
    out = expect(ashuf("cat", "out", "--format", "jsonl"), GOOD, err="").out
    assert out.splitlines() == JSONL
    for line in out.splitlines():
        json.loads(line, parse_constant=lambda word: 1 / 0)  # no bare NaN or Infinity


def test_arrow_comes_back():
    write_small("--partitions", "3", "--hash", "id")
    stream = expect(ashuf("cat", "out", "--format", "arrow"), GOOD, err="").bytes
    put("again.arrows", stream)
    expect(ashuf("cat", "again.arrows"), GOOD, out=ashuf("cat", "out").out, err="")
    first = expect(ashuf("cat", "out", "--format", "arrow", "--limit", "1"), GOOD, err="").bytes
    put("first.arrows", first)
    out = expect(ashuf("cat", "first.arrows"), GOOD, err="").out
    assert out.count("\n") >= 2 and ashuf("cat", "out").out.startswith(out)


def test_arrow_is_read_by_pyarrow():
    try:
        import pyarrow as pa
    except ImportError as why:
        raise Skip("no pyarrow") from why
    write_small("--partitions", "3", "--hash", "id")
    stream = expect(ashuf("cat", "out", "--format", "arrow"), GOOD, err="").bytes
    got = pa.ipc.open_stream(stream).read_all()
    got.validate(full=True)
    wanted = pa.ipc.open_stream(small()).read_all()
    assert got.schema == wanted.schema
    assert got.sort_by("id").drop_columns("price") == wanted.drop_columns("price")
    assert str(got.sort_by("id")["price"]) == str(wanted["price"])


def test_dictionaries_print_as_their_values():
    folder = data("comet", "byp_lz4_dict")
    out = expect(ashuf("cat", folder), GOOD, err="").out
    assert ",red," in out


def test_no_blocks():
    folder = data("comet", "byp_lz4_zerorows")
    expect(ashuf("cat", folder), GOOD, out="", err="")
    expect(ashuf("cat", folder, "--format", "box"), GOOD, out="0 rows\n", err="")
    result = expect(ashuf("cat", folder, "--format", "arrow"), BAD_DATA, out="")
    assert result.err.endswith(": no block, so no schema for an Arrow stream\n"), result.err
    expect(ashuf("verify", folder), GOOD, err="")


def test_other_schema_names_file_and_column():
    put("small.arrows", small())
    put("other.arrows", small().replace(b"price", b"prize"))
    expect(ashuf("cat", "small.arrows", "other.arrows"), BAD_DATA, out=SMALL_CSV,
           err="ashuf: other.arrows: another schema: column 2 is 'prize' float64 here and 'price' "
           "float64 in small.arrows\n")


def test_missing_files_and_folders_without_any():
    expect(ashuf("cat", "nope"), IO, out="",
           err="ashuf: nope: cannot open: No such file or directory\n")
    os.mkdir("empty")
    for command in ("cat", "info", "verify"):
        expect(ashuf(command, "empty"), IO, out="",
               err="ashuf: empty: no shuffle_*.data file in this directory\n")


def test_not_arrow():
    put("text.txt", b"not an Arrow file, but longer than a header\n")
    for command in ("cat", "info", "verify"):
        result = ashuf(command, "text.txt")
        assert result.status == BAD_DATA and result.err.startswith("ashuf: text.txt: ")
        assert result.err.count("\n") == 1


def test_info_tsv():
    write_small("--partitions", "3", "--hash", "id")
    size = os.path.getsize("out/shuffle_0_0_0.data")
    lines = expect(ashuf("info", "out", "small.arrows"), GOOD, err="").out.splitlines()
    titles = lines[0].split("\t")
    rows = [dict(zip(titles, line.split("\t"))) for line in lines[1:]]
    assert [row["kind"] for row in rows] == ["shuffle", "ipc"]
    assert rows[0]["partitions"] == "3" and rows[0]["rows"] == "6" and rows[0]["codec"] == "lz4"
    assert rows[0]["bytes"] == str(size) and rows[0]["columns"] == "9"
    assert rows[0]["schema"].startswith("id int64 not null, name utf8, price float64, day date32")
    assert rows[1]["rows"] == "6" and rows[1]["bytes"] == str(len(small()))
    assert rows[1]["schema"] == rows[0]["schema"]


def test_info_partitions_add_up():
    write_small("--partitions", "3", "--hash", "id")
    parts = json.loads(expect(ashuf("info", "out", "--partitions", "--format", "json"), GOOD).out)
    assert [part["partition"] for part in parts] == [0, 1, 2]
    assert sum(part["rows"] for part in parts) == 6
    assert sum(part["bytes"] for part in parts) == os.path.getsize("out/shuffle_0_0_0.data")
    table = expect(ashuf("info", "out", "--partitions", "--format", "table"), GOOD, err="").out
    assert table.splitlines()[0].split() == ["file", "partition", "offset", "bytes", "blocks",
                                             "rows", "raw_bytes", "ratio"]


def test_info_json_has_the_schema():
    put("small.arrows", small())
    (row,) = json.loads(expect(ashuf("info", "small.arrows", "--format", "json"), GOOD).out)
    assert row["schema"][0] == {"name": "id", "type": "int64", "nullable": False}
    assert row["schema"][5]["type"] == "decimal128(10, 2)"
    assert len(row["schema"]) == row["columns"] == 9


def test_little_endian_index_is_read():
    write_small("--partitions", "3", "--hash", "id")
    whole = ashuf("cat", "out").out
    index = get("out/shuffle_0_0_0.index")
    put("out/shuffle_0_0_0.index", b"".join(index[i : i + 8][::-1] for i in range(0, 32, 8)))
    expect(ashuf("cat", "out"), GOOD, out=whole, err="")


if __name__ == "__main__":
    main()
