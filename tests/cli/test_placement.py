"""ashuf write --range and --round-robin: what the options say, and which go together."""

import json

from cli_support import (GOOD, USAGE, ashuf, expect, main, put, small, write_small)


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
    refused("--range", "id", "--bounds", "b", "--seed", "1", text="nothing is drawn")
    refused("--group-rows", "3", text="--group-rows belongs to")
    refused("--round-robin=hash", "--group-rows", "3", text="--group-rows belongs to")
    refused("--round-robin", "--max-hash-columns", "3", text="--max-hash-columns belongs to")
    refused("--round-robin=both", text="'both' is not one of positional or hash")
    refused("--range", "id,,name", text="--range: a column name is empty")
    refused("--range", "nme:desc", text="no column 'nme'; did you mean 'name'?")
    refused("--range", "id:down", text="no column 'id:down'")
    refused("--range", "tags", text='"tags"')


def test_a_pipe_cannot_be_sampled():
    result = ashuf("write", "-", "-o", "out", "--partitions", "3", "--range", "id", stdin=small())
    expect(result, USAGE, out="")
    assert "reads its inputs twice" in result.err


if __name__ == "__main__":
    main()
