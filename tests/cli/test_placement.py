"""ashuf write --range and --round-robin: what the options say, and which go together."""

import json

import os
import random

from cli_support import (BAD_DATA, GOOD, USAGE, Skip, ashuf, expect, main, put, small, write_small)


def ids(partition):
    result = ashuf("cat", "out", "--partition", partition, "--format", "jsonl")
    out = expect(result, GOOD, err="").out
    return [json.loads(line)["id"] for line in out.splitlines()]


def refused(*options, text):
    put("small.arrows", small())
    result = expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "3", *options),
                    USAGE, out="")
    assert text in result.err, result.err


def test_round_robin_deals_groups_of_rows():
    write_small("--partitions", "3", "--round-robin", "--group-rows", "2")
    assert [ids(p) for p in range(3)] == [[1, 2], [3, 4], [5, 9007199254740993]]
    write_small("--partitions", "3", "--round-robin=positional", "--group-rows=1")
    assert [ids(p) for p in range(3)] == [[1, 4], [2, 5], [3, 9007199254740993]]


def test_round_robin_by_hash_is_the_hash_of_the_columns():
    write_small("--partitions", "200", "--round-robin=hash", "--max-hash-columns", "1")
    assert ids(69) == [1]


def test_ranges_by_sampled_bounds():
    write_small("--partitions", "3", "--range", "id")
    assert [ids(p) for p in range(3)] == [[1, 2], [3, 4], [5, 9007199254740993]]
    write_small("--partitions", "3", "--range", "id:desc")
    assert [ids(p) for p in range(3)] == [[5, 9007199254740993], [3, 4], [1, 2]]


def test_show_bounds():
    put("small.arrows", small())
    result = ashuf("write", "small.arrows", "-o", "out", "--partitions", "3", "--range", "name",
                   "--show-bounds", "--format", "json")
    expect(result, GOOD, err='bound 0: {"name":""}\nbound 1: {"name":"comma, \\"quote\\""}\n')
    (row,) = json.loads(result.out)
    assert row["bounds"] == [{"name": ""}, {"name": 'comma, "quote"'}]


def test_options_that_do_not_go_together():
    refused("--hash", "id", "--range", "id", text="exclude each other")
    refused("--range", "id", "--round-robin", text="exclude each other")
    refused("--bounds", "b", text="belong to --range")
    refused("--show-bounds", "--hash", "id", text="belong to --range")
    refused("--range-rule", "comet", "--hash", "id", text="belongs to --range")
    refused("--range", "id", "--bounds", "b", "--seed", "1", text="nothing is drawn")
    refused("--group-rows", "3", text="--group-rows belongs to")
    refused("--round-robin=hash", "--group-rows", "3", text="--group-rows belongs to")
    refused("--round-robin", "--max-hash-columns", "3", text="--max-hash-columns belongs to")
    refused("--round-robin=both", text="'both' is not one of positional or hash")
    refused("--range", "id,,name", text="--range: a column name is empty")
    refused("--range", "nme:desc", text="no column 'nme'; did you mean 'name'?")
    refused("--range", "id:down", text="no column 'id:down'")
    refused("--range", "tags", text='"tags"')


def arrow():
    try:
        import pyarrow
    except ImportError as why:
        raise Skip("no pyarrow") from why
    return pyarrow


def put_batches(name, *batches):
    pa = arrow()
    with pa.ipc.new_stream(name, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_bounds(*options, status=GOOD, **more):
    put("small.arrows", small())
    return expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "4", *options,
                        "--bounds", "bounds.arrows"), status, **more)


def test_bounds_in_several_batches():
    pa = arrow()
    one = [pa.record_batch([pa.array(keys, pa.int64())], ["any name"])
           for keys in ([1, 2], [], [2], [4])]
    put_batches("bounds.arrows", *one)
    write_bounds("--range", "id", "--show-bounds",
                 err='bound 0: {"id":1}\nbound 1: {"id":2}\nbound 2: {"id":2}\n'
                     'bound 3: {"id":4}\n')
    assert [ids(p) for p in range(4)] == [[1], [2], [3, 4], [5, 9007199254740993]]
    write_bounds("--range", "id", "--range-rule", "comet", err="")
    assert [ids(p) for p in range(4)] == [[], [1], [2, 3], [4, 5, 9007199254740993]]


def test_bounds_in_dictionaries():
    pa = arrow()
    words = pa.array(["comma", "comma"]).dictionary_encode()
    other = pa.array([None, "Grüße 日本"]).dictionary_encode()
    put_batches("bounds.arrows", *[pa.record_batch([column], ["w"]) for column in (other, words)])
    write_bounds("--range", "name", err="")
    assert [ids(p) for p in range(4)] == [[5], [2, 9007199254740993], [], [1, 3, 4]]


def test_bounds_that_do_not_fit():
    pa = arrow()
    put_batches("bounds.arrows", pa.record_batch([pa.array([3, 1])], ["id"]))
    told = write_bounds("--range", "id", status=USAGE, out="").err
    assert told.startswith("ashuf: bounds.arrows: ") and told.count("\n") == 1, told
    write_bounds("--range", "name", status=BAD_DATA, out="",
                 err="ashuf: bounds.arrows: column 0 of the bounds is int64, the key is utf8\n")
    write_bounds("--range", "id,name", status=BAD_DATA, out="",
                 err="ashuf: bounds.arrows: bounds of 1 columns, the key has 2\n")
    put_batches("bounds.arrows", pa.record_batch([pa.array(list(range(-9, 0)))], ["id"]))
    told = write_bounds("--range", "id", status=USAGE, out="").err
    assert told.startswith("ashuf: bounds.arrows: ") and told.count("\n") == 1, told
    put_batches("bounds.arrows", pa.record_batch([pa.array([], pa.int64())], ["id"]))
    write_bounds("--range", "id", err="")
    assert len(ids(0)) == 6
    assert not [name for name in os.listdir("out") if name.startswith(".")]


def odd_names():
    """Columns whose names look like lists and orders."""
    pa = arrow()
    names = ["a,b", "a desc", "a:desc", 'say "x"', "a"]
    columns = [
        pa.array([1, 2, 3, 4]), pa.array([2, 1, 4, 3]), pa.array([4, 1, 2, 3]),
        pa.array([-1, -2, -3, -4]), pa.array([0, 0, 1, None])]
    put_batches("odd.arrows", pa.record_batch(columns, names))


def first_of(*options):
    """The first column of each of two partitions."""
    expect(ashuf("write", "odd.arrows", "-o", "out", "--partitions", "2", *options), GOOD, err="")
    found = []
    for p in range(2):
        out = expect(ashuf("cat", "out", "--partition", p, "--format", "jsonl"), GOOD, err="").out
        found.append([json.loads(line)["a,b"] for line in out.splitlines()])
    return found


def test_names_that_look_like_lists_and_orders():
    odd_names()
    assert first_of("--range", "a,b") == [[1, 2], [3, 4]]  # the name of a column as a whole
    assert first_of("--range", '"a,b"') == [[1, 2], [3, 4]]
    assert first_of("--range", '"a,b":desc') == [[3, 4], [1, 2]]
    assert first_of("--range", "a desc") == [[1, 2], [3, 4]]
    assert first_of("--range", "a desc:desc") == [[3, 4], [1, 2]]
    assert first_of("--range", "a:desc") == [[2, 3], [1, 4]]  # ascending by "a:desc"
    assert first_of("--range", '"a":desc,"a:desc"') == [[2, 3], [1, 4]]
    assert first_of("--range", '"a":desc:nulls-first,"a:desc"') == [[3, 4], [1, 2]]
    assert first_of("--range", '"a":nulls-last:asc,"a,b":desc') == [[1, 2], [3, 4]]
    assert first_of("--range", '"say ""x"""') == [[3, 4], [1, 2]]


def test_quoted_names_that_are_wrong():
    odd_names()
    for key, text in (('"a,b', "--range: a quoted name is not closed"),
                      ('"a,b"x', "--range: 'x' behind a quoted name is no order such as :desc"),
                      ('"a":desc:asc', "--range: ':desc' behind a quoted name is no order"),
                      ("a:nulls-first:nulls-last", "no column 'a:nulls-first'"),
                      ('""', "--range: a column name is empty"),
                      ('"c"', "no column 'c'")):
        result = expect(ashuf("write", "odd.arrows", "-o", "out", "--partitions", "2", "--range",
                              key), USAGE, out="")
        assert text in result.err and result.err.count("\n") == 1, (key, result.err)


def test_t9_ranges_of_four_writers_with_shared_bounds():
    """Disjoint across writers and in Spark's order, with NaN, zeros and nulls; both directions."""
    pa = arrow()
    dice = random.Random(9)
    keys = [float(i) for i in range(-500, 500)] * 2 + [float("nan"), -0.0, 0.0, None] * 20
    dice.shuffle(keys)
    for m in range(4):
        put_batches(f"{m}.arrows", pa.record_batch([pa.array(keys[m::4], pa.float64())], ["k"]))

    def place(key):
        return (0, 0) if key is None else (2, 0) if key != key else (1, key)

    for order, nulls in (("asc", "first"), ("asc", "last"), ("desc", "first"), ("desc", "last")):
        key = f"k:{order}:nulls-{nulls}"
        sampled = ashuf("write", *[f"{m}.arrows" for m in range(4)], "-o", "sampled",
                        "--partitions", "11", "--range", key, "--format", "json")
        bounds = json.loads(expect(sampled, GOOD, err="").out)[0]["bounds"]
        numbers = [None if b["k"] is None else float(b["k"]) for b in bounds]
        put_batches("bounds.arrows", pa.record_batch([pa.array(numbers, pa.float64())], ["k"]))
        for m in range(4):
            expect(ashuf("write", f"{m}.arrows", "-o", "given", "--partitions", "11", "--range",
                         key, "--bounds", "bounds.arrows", "--map-id", m), GOOD, err="")
        expect(ashuf("verify", "--compare", "sampled", "given"), GOOD, err="")
        last, rows = None, 0
        for p in range(11):
            out = ashuf("cat", "given", "--partition", p, "--format", "jsonl").out
            here = [json.loads(line)["k"] for line in out.splitlines()]
            rows += len(here)
            ranks = []
            for value in here:
                rank = place(None if value is None else float(value))
                sign = -1 if order == "desc" else 1
                null = 0 if nulls == "first" else 2
                ranks.append((null, 0) if value is None else (1, sign * rank[0], sign * rank[1]))
            if ranks:
                assert last is None or last < min(ranks), (key, p, last, min(ranks))
                last = max(ranks)
        assert rows == len(keys)


def test_a_pipe_cannot_be_sampled():
    result = ashuf("write", "-", "-o", "out", "--partitions", "3", "--range", "id", stdin=small())
    expect(result, USAGE, out="")
    assert "reads its inputs twice" in result.err


if __name__ == "__main__":
    main()
