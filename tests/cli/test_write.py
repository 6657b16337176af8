"""ashuf write: what it leaves, what it reports, and that a failure leaves nothing."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time

from cli_support import (BAD_DATA, GOOD, IO, USAGE, SMALL_CSV, Skip, ashuf, data, expect, get,
                         main, program, put, small, write_small)

NAMES = ["shuffle_0_0_0.data", "shuffle_0_0_0.index"]


def in_directory(path="out"):
    return sorted(os.listdir(path))


def offsets(name):
    raw = get(name)
    assert len(raw) % 8 == 0
    return [int.from_bytes(raw[i : i + 8], "big") for i in range(0, len(raw), 8)]


def test_files_and_report_as_tsv():
    result = write_small("--partitions", "3", "--hash", "id")
    assert in_directory() == NAMES
    size = os.path.getsize("out/shuffle_0_0_0.data")
    index = offsets("out/shuffle_0_0_0.index")
    assert len(index) == 4 and index[0] == 0 and index[-1] == size
    lines = [line.split("\t") for line in result.out.splitlines()]
    assert lines[0] == ["map", "input", "partitions", "rows", "blocks", "bytes", "ratio"]
    assert lines[1][:4] == ["0", "small.arrows", "3", "6"] and lines[1][5] == str(size)
    assert len(lines) == 2


def test_limit_and_threads_change_nothing():
    """Spilled and encoded by several threads, the output is the same."""
    expected = None
    for more in ([], ["--memory-limit", "1"], ["--threads", "2"],
                 ["--memory-limit", "1KiB", "--threads", "3", "--spill-dir", ".", "--spill-dir", "/tmp"]):
        shutil.rmtree("out", ignore_errors=True)
        write_small("--partitions", "3", "--hash", "id", *more)
        names = in_directory()
        assert names == NAMES
        files = [get("out/" + name) for name in names]
        assert expected is None or files == expected
        expected = files


def test_index_order_and_stats():
    result = write_small("--partitions", "2", "--hash", "id", "--index-order", "little", "--stats", "json")
    index = get("out/shuffle_0_0_0.index")
    assert int.from_bytes(index[-8:], "little") == os.path.getsize("out/shuffle_0_0_0.data")
    row = json.loads(result.out)[0]
    assert row["spills"] == 0 and row["encode_ns"] > 0


def test_report_as_json():
    result = write_small("--partitions", "1", "--format", "json")
    (row,) = json.loads(result.out)
    assert row["rows"] == 6 and row["blocks"] == 1 and row["partitions"] == 1
    assert row["bytes"] == os.path.getsize("out/shuffle_0_0_0.data")


def test_rows_come_back_in_their_order():
    for codec in ("none", "lz4", "zstd", "snappy"):
        for layout in ("compact", "arrow-rs"):
            write_small("--partitions", "1", "--codec", codec, "--layout", layout)
            expect(ashuf("cat", "out"), GOOD, out=SMALL_CSV, err="")
            expect(ashuf("verify", "out"), GOOD, err="")


def test_hash_placement_is_that_of_spark():
    # int64 keys 1 to 5, seed 42: floorMod(murmur3, 3), from the vectors (0: 5, 1: 69 of 200 ...).
    write_small("--partitions", "200", "--hash", "id")
    out = expect(ashuf("cat", "out", "--partition", "69", "--format", "jsonl"), GOOD, err="").out
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]


def test_without_a_key_all_rows_are_in_partition_0():
    write_small("--partitions", "4")
    assert len(set(offsets("out/shuffle_0_0_0.index")[1:])) == 1
    expect(ashuf("cat", "out", "--partition", "0"), GOOD, out=SMALL_CSV)


def test_max_rows_cuts_blocks():
    result = write_small("--partitions", "1", "--max-rows", "4", "--format", "json")
    assert json.loads(result.out)[0]["blocks"] == 2
    expect(ashuf("cat", "out"), GOOD, out=SMALL_CSV)


def test_level_and_lengths_are_taken():
    write_small("--partitions", "1", "--codec", "zstd", "--level", "-5",
                "--offsets-as-lengths", "off", "--sync")
    expect(ashuf("cat", "out"), GOOD, out=SMALL_CSV)


def test_max_body_cuts_blocks():
    put("small.arrows", small())
    expect(ashuf("write", *["small.arrows"] * 200, "-o", "many", "--partitions", "1"), GOOD)
    put("long.arrows", ashuf("cat", "many", "--format", "arrow").bytes)
    blocks = []
    for size in ("64M", "64K", "8192", "8K", "1G"):
        result = expect(ashuf("write", "long.arrows", "-o", "out", "--partitions", "1",
                              "--max-body", size, "--format", "json"), GOOD, err="")
        blocks.append(json.loads(result.out)[0]["blocks"])
        expect(ashuf("cat", "out"), GOOD, out=ashuf("cat", "long.arrows").out)
    assert blocks[0] == blocks[4] == 1 and 1 < blocks[1] < blocks[2] == blocks[3], blocks


def dictionary_stream():
    """Rows whose only column is a dictionary of texts."""
    try:
        import pyarrow as pa
    except ImportError as why:
        raise Skip("no pyarrow") from why
    batch = pa.record_batch({"color": pa.array(["red", "blue", None, "red"]).dictionary_encode()})
    with pa.ipc.new_stream("colors.arrows", batch.schema) as writer:
        writer.write_batch(batch)
    return "colors.arrows"


def test_dictionaries_are_kept_or_written_as_their_values():
    name = dictionary_stream()
    types = []
    for options in ((), ("--dictionaries", "keep"), ("--dictionaries", "plain")):
        expect(ashuf("write", name, "-o", "out", "--partitions", "1", *options), GOOD, err="")
        expect(ashuf("cat", "out"), GOOD, out="color\nred\nblue\n\nred\n", err="")
        (row,) = json.loads(expect(ashuf("info", "out", "--format", "json"), GOOD, err="").out)
        types.append(row["schema"][0]["type"])
    assert types[0] == types[1] != types[2] == "utf8", types


def keyed_by(key, name="odd.arrows"):
    """The rows of each partition, without the names of columns; or what is wrong."""
    result = ashuf("write", name, "-o", "out", "--partitions", "5", "--hash", key)
    if result.status != GOOD:
        return result.err
    parts = [expect(ashuf("cat", "out", "--partition", p, "--format", "csv"), GOOD).out
             for p in range(5)]
    return [part.splitlines()[1:] for part in parts]


def test_names_with_commas_and_quotation_marks_can_be_keys():
    try:
        import pyarrow as pa
    except ImportError as why:
        raise Skip("no pyarrow") from why
    names = ["a,b", "c", '"q"', "a", "b"]
    batch = pa.record_batch([pa.array(range(i * 7, i * 7 + 50)) for i in range(5)], names=names)
    plain = batch.rename_columns(["v", "w", "x", "y", "z"])
    for path, one in (("odd.arrows", batch), ("plain.arrows", plain)):
        with pa.ipc.new_stream(path, one.schema) as writer:
            writer.write_batch(one)
    for key, same in (('"a,b"', "v"), ("a,b", "v"), ('"a,b",c', "v,w"), ('c,"a,b"', "w,v"),
                      ('"""q"""', "x"), ('"q"', "x"), ('"c","a"', "w,y"), ("b,a", "z,y"),
                      ('b,"""q""",c', "z,x,w")):
        rows = keyed_by(same, "plain.arrows")
        assert sum(map(len, rows)) == 50 and keyed_by(key) == rows, key
    for key in ('"a,b', '"a,b"c', 'c,"a', '"a""'):
        assert keyed_by(key) == ("ashuf: write: --hash: a quoted name is not closed in front of a "
                                 "comma or the end\n"), (key, keyed_by(key))
    assert keyed_by('c,""') == "ashuf: write: --hash: a column name is empty\n"
    assert keyed_by('"a,b",') == "ashuf: write: --hash: a column name is empty\n"


def test_standard_input_and_several_inputs():
    put("a.arrows", small())
    expect(ashuf("write", "a.arrows", "-", "-o", "out", "--partitions", "2", "--hash", "name,id",
                 stdin=small()), GOOD, err="")
    assert in_directory() == sorted(NAMES + [n.replace("0_0.", "1_0.") for n in NAMES])
    out = expect(ashuf("cat", "out", "--format", "jsonl"), GOOD, err="").out
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == sorted(
        [1, 2, 3, 4, 5, 9007199254740993] * 2)


def test_ten_inputs_are_read_in_the_order_of_their_numbers():
    put("a.arrows", small())
    expect(ashuf("write", *["a.arrows"] * 11, "-o", "out", "--partitions", "1"), GOOD, err="")
    out = expect(ashuf("verify", "out"), GOOD, err="").out
    maps = [line.split("\t")[0] for line in out.splitlines()[1:]]
    assert maps == [f"out/shuffle_0_{m}_0.data" for m in range(11)], maps


def test_output_replaces_older_output():
    write_small("--partitions", "5", "--hash", "id")
    write_small("--partitions", "1")
    assert in_directory() == NAMES
    assert len(offsets("out/shuffle_0_0_0.index")) == 2


def test_an_older_output_that_stays_is_told():
    put("a.arrows", small())
    expect(ashuf("write", "a.arrows", "a.arrows", "-o", "out", "--partitions", "1"), GOOD, err="")
    expect(ashuf("write", "a.arrows", "-o", "out", "--partitions", "1"), GOOD,
           err="ashuf: out/shuffle_0_1_0.data: note: left from an earlier write; reading out "
           "reads it too\n")


def fails(status, err, *arguments, directory="out", **more):
    """Nothing may be left: not the directory where it was not there before."""
    expect(ashuf("write", *arguments, "-o", directory, **more), status, out="", err=err)
    assert not os.path.exists(directory), os.listdir(directory)


def test_missing_input():
    fails(IO, None, "nope.arrows", "--partitions", "1")
    err = ashuf("write", "nope.arrows", "-o", "out", "--partitions", "1").err
    assert err.startswith("ashuf: nope.arrows: ") and "No such file" in err, err
    assert err.count("\n") == 1 and err.count("nope.arrows") == 1, err


def test_input_that_is_not_arrow():
    put("text.txt", b"hello, this is no Arrow file at all\n" * 3)
    fails(BAD_DATA, None, "text.txt", "--partitions", "1")
    err = ashuf("write", "text.txt", "-o", "out", "--partitions", "1").err
    assert err.startswith("ashuf: text.txt: ") and err.count("\n") == 1, err


def test_empty_input():
    put("empty", b"")
    fails(BAD_DATA, None, "empty", "--partitions", "1")


def test_truncated_input_after_a_good_one_leaves_nothing():
    put("good.arrows", small())
    for size in (10, 700, len(small()) - 100):
        put("cut.arrows", small()[:size])
        fails(BAD_DATA, None, "good.arrows", "cut.arrows", "--partitions", "2", "--hash", "id")


def test_failure_keeps_older_output():
    write_small("--partitions", "3", "--hash", "id")
    before = [get(os.path.join("out", name)) for name in NAMES]
    put("cut.arrows", small()[:700])
    expect(ashuf("write", "small.arrows", "cut.arrows", "-o", "out", "--partitions", "1"),
           BAD_DATA, out="")
    assert in_directory() == NAMES
    assert [get(os.path.join("out", name)) for name in NAMES] == before


def test_missing_column_names_the_nearest():
    put("small.arrows", small())
    fails(USAGE, "ashuf: small.arrows: no column 'nmae'; did you mean 'name'?\n", "small.arrows",
          "--partitions", "2", "--hash", "id,nmae")
    fails(USAGE, "ashuf: small.arrows: no column 'completely different' among its 9 columns\n",
          "small.arrows", "--partitions", "2", "--hash", "completely different")
    fails(USAGE, "ashuf: write: --hash: a column name is empty\n", "small.arrows", "--partitions",
          "2", "--hash", "id,")


def test_other_schema_names_file_and_column():
    put("small.arrows", small())
    put("other.arrows", small().replace(b"price", b"prize"))
    fails(BAD_DATA,
          "ashuf: other.arrows: another schema: column 2 is 'prize' float64 here and 'price' "
          "float64 in small.arrows\n", "small.arrows", "other.arrows", "--partitions", "2")


def test_t32_t33_a_type_that_changes_names_the_column_and_leaves_nothing():
    try:
        import pyarrow as pa
    except ImportError as why:
        raise Skip("no pyarrow") from why
    for name, kind in (("int32", pa.int32()), ("int64", pa.int64()),
                       ("us-UTC", pa.timestamp("us", "UTC")), ("us", pa.timestamp("us")),
                       ("us-LA", pa.timestamp("us", "America/Los_Angeles")),
                       ("ms-UTC", pa.timestamp("ms", "UTC"))):
        column = pa.array(range(1000), pa.int64()).cast(kind)
        with pa.OSFile(name, "wb") as out, pa.ipc.new_stream(out, pa.schema([("c", kind)])) as to:
            to.write_batch(pa.record_batch([column], ["c"]))
            to.write_batch(pa.record_batch([column], ["c"]))
    for first, second, here, there in (
            ("int32", "int64", "int64", "int32"),
            ("us-UTC", "ms-UTC", "timestamp(ms, UTC)", "timestamp(us, UTC)")):
        for more in ((), ("--memory-limit", "1KiB"), ("--threads", "2")):
            fails(BAD_DATA, f"ashuf: {second}: another schema: column 0 is 'c' {here} here and "
                  f"'c' {there} in {first}\n", first, second, "--partitions", "3", "--hash", "c",
                  *more)
    for second in ("us-LA", "us"):  # labels are those of the first input
        expect(ashuf("write", "us-UTC", second, "-o", "out", "--partitions", "3", "--hash", "c"),
               GOOD, err="")
        stream = expect(ashuf("cat", "out", "--format", "arrow"), GOOD).bytes
        read = pa.ipc.open_stream(stream).read_all()
        assert read.schema.field("c").type == pa.timestamp("us", "UTC"), read.schema
        assert sorted(read.column("c").cast(pa.int64()).to_pylist()) == sorted(
            4 * list(range(1000))), second


def test_output_that_cannot_be_a_directory():
    put("small.arrows", small())
    expect(ashuf("write", "small.arrows", "-o", "no/such/parent", "--partitions", "1"), IO, out="",
           err="ashuf: no/such/parent: cannot make directory: No such file or directory\n")
    expect(ashuf("write", "small.arrows", "-o", "small.arrows", "--partitions", "1"), IO, out="",
           err="ashuf: small.arrows: cannot write into directory: Not a directory\n")


def test_unwritable_directory():
    if os.geteuid() == 0:
        raise Skip("root may write everywhere")
    put("small.arrows", small())
    os.mkdir("out", 0o555)
    expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "1"), IO, out="",
           err="ashuf: out: cannot write into directory: Permission denied\n")


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))


def test_file_size_limit_is_an_error_that_leaves_nothing():
    put("small.arrows", small())
    result = ashuf("write", "small.arrows", "-o", "out", "--partitions", "1",
                   preexec_fn=limit_file_size)
    expect(result, IO, out="")
    assert result.err.startswith("ashuf: out/shuffle_0_0_0.data: "), result.err
    assert result.err.endswith(": File too large\n"), result.err
    assert not os.path.exists("out")


def test_full_disk_leaves_nothing():
    """A file system of 64 KiB, where we may mount one."""
    os.mkdir("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", "disk"]
    try:
        done = subprocess.run(mount, stderr=subprocess.DEVNULL, check=False)
    except OSError as why:
        raise Skip("no mount") from why
    if done.returncode != 0:
        raise Skip("mount is not allowed")
    try:
        put("small.arrows", small())
        expect(ashuf("write", *["small.arrows"] * 40, "-o", "disk/out", "--partitions", "1",
                     "--codec", "none"), IO, out="")
        assert os.listdir("disk") == []
    finally:
        subprocess.run(["umount", "disk"], check=True)


def test_report_that_cannot_be_written():
    put("small.arrows", small())
    with open("/dev/full", "wb") as full:
        expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "1", stdout=full), IO,
               err="ashuf: standard output: cannot write: No space left on device\n")


def test_interrupt_leaves_nothing():
    """The program sits in a read of standard input when the signal comes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        child = subprocess.Popen(
            [program(), "write", "-", "-o", "out", "--partitions", "1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdin.write(small()[:900])
        child.stdin.flush()
        for _ in range(500):
            if os.path.isdir("out") and os.listdir("out"):
                break
            time.sleep(0.02)
        time.sleep(0.2)
        child.send_signal(number)
        assert child.wait(timeout=20) == -number
        child.stdin.close()
        assert child.stderr.read() == b""
        child.stdout.close()
        child.stderr.close()
        left = os.listdir("out") if os.path.isdir("out") else []
        assert left == [], left
        shutil.rmtree("out", ignore_errors=True)


def test_flights_come_back_from_every_codec():
    path = data("real", "flights-30k.arrow")
    before = sorted(expect(ashuf("cat", path), GOOD, err="").out.splitlines())
    for codec in ("lz4", "zstd"):
        expect(ashuf("write", path, "-o", "out", "--partitions", "7", "--hash",
                     before_key(path), "--codec", codec), GOOD, err="")
        after = sorted(expect(ashuf("cat", "out"), GOOD, err="").out.splitlines())
        assert before == after


def before_key(path):
    """The first column that can be a key."""
    (row,) = json.loads(expect(ashuf("info", path, "--format", "json"), GOOD, err="").out)
    return next(c["name"] for c in row["schema"] if c["type"] in ("int32", "int64", "utf8"))


if __name__ == "__main__":
    main()
