"""ashuf verify --compare: the same rows in each partition, whatever their order and encoding."""

import json
import os
import random
import shutil

from cli_support import (BAD_DATA, GOOD, IO, USAGE, Skip, ashuf, expect, get, main, put, small,
                         write_small)

HEAD = "partition\trows_a\trows_b\tsum_a\tsum_b\n"
MOVED = "; all partitions together hold the same rows\n"


def arrow():
    try:
        import pyarrow
    except ImportError as why:
        raise Skip("no pyarrow") from why
    return pyarrow


def batches(n, rows, words=None):
    pa = arrow()
    made = []
    for b in range(n):
        ids = list(range(b * rows, (b + 1) * rows))
        texts = pa.array([f"w{i % 13}" for i in ids])
        made.append(pa.record_batch([pa.array(ids), words(texts) if words else texts],
                                    ["id", "w"]))
    return made


def put_batches(name, some):
    with arrow().ipc.new_stream(name, some[0].schema) as writer:
        for batch in some:
            writer.write_batch(batch)


def write(directory, *inputs, more=()):
    expect(ashuf("write", *inputs, "-o", directory, *more), GOOD, err="")


def compare(a, b, status=GOOD, **more):
    result = expect(ashuf("verify", "--compare", a, b, "--format", "json"), status, **more)
    return json.loads(result.out) if result.out else None


def test_t10_two_attempts_with_the_batches_permuted():
    some = batches(40, 500)
    put_batches("one.arrows", some)
    random.Random(10).shuffle(some)
    put_batches("two.arrows", some)
    for attempt, name in (("a", "one.arrows"), ("b", "two.arrows")):
        write(attempt + "-hash", name, more=("--partitions", "20", "--round-robin=hash"))
        write(attempt + "-turns", name, more=("--partitions", "20", "--round-robin"))
    assert get("a-hash/shuffle_0_0_0.data") != get("b-hash/shuffle_0_0_0.data")
    expect(ashuf("verify", "--compare", "a-hash", "b-hash"), GOOD, out=HEAD, err="")
    rows = compare("a-turns", "b-turns", BAD_DATA)
    told = ashuf("verify", "--compare", "a-turns", "b-turns").err
    assert told == (f"ashuf: b-turns: other rows than in a-turns in {len(rows)} of 20 partitions, "
                    f"the first of them {rows[0]['partition']}" + MOVED), told
    for row in rows:
        p = row["partition"]
        found = [sorted(ashuf("cat", d, "--partition", p).out.splitlines())
                 for d in ("a-turns", "b-turns")]
        assert found[0] != found[1]
        assert [row["rows_a"], row["rows_b"]] == [len(lines) - 1 for lines in found]
        assert row["sum_a"] != row["sum_b"]
    same = set(range(20)) - {row["partition"] for row in rows}
    for p in same:
        found = [sorted(ashuf("cat", d, "--partition", p).out.splitlines())
                 for d in ("a-turns", "b-turns")]
        assert found[0] == found[1]


def test_t10_a_million_rows_over_200_partitions():
    pa = arrow()
    some = [pa.record_batch([pa.array(range(b * 10000, (b + 1) * 10000))], ["id"])
            for b in range(100)]
    put_batches("one.arrows", some)
    random.Random(200).shuffle(some)
    put_batches("two.arrows", some)
    for attempt, name in (("a", "one.arrows"), ("b", "two.arrows")):
        write(attempt + "-hash", name, more=("--partitions", "200", "--round-robin=hash"))
        write(attempt + "-turns", name, more=("--partitions", "200", "--round-robin"))
    assert compare("a-hash", "b-hash") == []
    rows = compare("a-turns", "b-turns", BAD_DATA)
    assert rows and all(row["sum_a"] != row["sum_b"] for row in rows)
    assert sum(row["rows_a"] for row in rows) == sum(row["rows_b"] for row in rows)
    assert ashuf("verify", "--compare", "a-turns", "b-turns").err == (
        f"ashuf: b-turns: other rows than in a-turns in {len(rows)} of 200 partitions, "
        f"the first of them {rows[0]['partition']}" + MOVED)


def test_other_numbers_of_map_outputs_codecs_and_encodings():
    some = batches(12, 100)
    put_batches("all.arrows", some)
    coded = batches(12, 100, lambda words: words.dictionary_encode())
    for m in range(3):
        put_batches(f"{m}.arrows", coded[m::3])
    how = ("--partitions", "5", "--hash", "id")
    write("one", "all.arrows", more=how)
    write("three", *[f"{m}.arrows" for m in range(3)], more=how + ("--codec", "zstd"))
    write("many", "all.arrows", more=how + ("--max-rows", "7", "--checksum", "crc32",
                                            "--shuffle-id", "3", "--map-id", "9"))
    assert len(os.listdir("three")) == 6
    assert compare("one", "three") == compare("three", "one") == compare("one", "many") == []
    assert compare("one/shuffle_0_0_0.data", "many") == []
    shutil.copytree("three", "two")
    for ending in (".data", ".index"):
        os.remove(f"two/shuffle_0_2_0{ending}")
    rows = compare("one", "two", BAD_DATA)
    assert [row["partition"] for row in rows] == list(range(5))
    assert sum(row["rows_a"] for row in rows) == 1200
    assert sum(row["rows_b"] for row in rows) == 800
    assert "same rows" not in ashuf("verify", "--compare", "one", "two").err


def test_one_row_more_and_one_value_changed():
    some = batches(1, 100)
    put_batches("a.arrows", some)
    put_batches("b.arrows", some + [some[0].slice(17, 1)])
    how = ("--partitions", "7", "--hash", "id")
    write("a", "a.arrows", more=how)
    write("b", "b.arrows", more=how)
    (row,) = compare("a", "b", BAD_DATA)
    assert row["rows_b"] == row["rows_a"] + 1
    expect(ashuf("verify", "--compare", "a", "b"), BAD_DATA, err=(
        "ashuf: b: other rows than in a in 1 of 7 partitions, the first of them "
        f"{row['partition']}\n"))
    pa = arrow()
    words = some[0].column(1).to_pylist()
    words[17] = "other"
    put_batches("c.arrows", [pa.record_batch([some[0].column(0), pa.array(words)], ["id", "w"])])
    write("c", "c.arrows", more=how)
    (other,) = compare("a", "c", BAD_DATA)
    assert other["partition"] == row["partition"] and other["rows_a"] == other["rows_b"]


def test_rows_that_moved():
    write_small("--partitions", "3", "--hash", "id")
    os.rename("out", "first")
    write_small("--partitions", "3", "--hash", "name")
    result = expect(ashuf("verify", "--compare", "first", "out"), BAD_DATA)
    assert result.err.endswith(MOVED) and result.out.startswith(HEAD)


def test_what_cannot_be_compared():
    write_small("--partitions", "3", "--hash", "id")
    write_small("--partitions", "4", "--hash", "id", directory="four")
    put("small.arrows", small())
    expect(ashuf("verify", "--compare", "out"), USAGE, out="",
           err="ashuf: verify: --compare takes two outputs\n")
    expect(ashuf("verify", "--compare", "out", "four"), BAD_DATA, out="",
           err="ashuf: four: has 4 partitions, out has 3\n")
    expect(ashuf("verify", "--compare", "out", "small.arrows"), USAGE, out="",
           err="ashuf: verify: --compare: small.arrows is Arrow IPC and has no partitions\n")
    expect(ashuf("verify", "--compare", "out", "nope"), IO, out="",
           err="ashuf: nope: cannot open: No such file or directory\n")
    os.remove("four/shuffle_0_0_0.index")
    expect(ashuf("verify", "--compare", "out", "four"), BAD_DATA, out="",
           err="ashuf: four/shuffle_0_0_0.data: no index beside it: not a finished output\n")


if __name__ == "__main__":
    main()
