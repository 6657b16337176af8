"""Streams made to test a reader: each is as its manifest says, as a stream and as one block."""

import csv
import json
import os
import re
import struct
import subprocess
import sys

import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ipc_values  # noqa: E402
from interop_support import (  # noqa: E402
    decoded,
    main,
    program,
    refused,
    run,
    test_data,
)


def cases():
    """(path, kind as a stream, kind as a block, values or None) of each case."""
    root = test_data("ipc_cases")
    if root is None:
        print("no test data: skipped")
        sys.exit(77)
    with open(os.path.join(root, "manifest.tsv"), newline="") as manifest:
        for case in csv.DictReader(manifest, delimiter="\t"):
            values = None
            if case["values"] != "-":
                with open(os.path.join(root, case["values"])) as file:
                    values = json.load(file)
            yield os.path.join(root, case["file"]), case["kind"], case["block"], values


def fields_of(path, values):
    """How many columns a case has, as far as that can be known."""
    if values is not None:
        return len(values["columns"])
    try:
        with pa.ipc.open_stream(path) as reader:
            return len(reader.schema)
    except (pa.ArrowException, OSError):
        return 1


def as_block(path, values):
    """The stream as the one block of a data file."""
    with open(path, "rb") as file:
        stream = file.read()
    with open("case.data", "wb") as file:
        file.write(struct.pack("<QQ4s", 12 + len(stream), fields_of(path, values), b"NONE"))
        file.write(stream)
    return "case.data"


def plain(kind):
    """The text of a type without dictionaries and runs."""
    kind = re.sub(r"dictionary<values=([^,]+), .*>", r"\1", kind)
    return re.sub(r"run_end_encoded<run_ends: \w+, values: (.*)>", r"\1", kind)


def expect_values(output, values, what):
    got = ipc_values.decode(output)
    names = [field.name for field in got.fields]
    assert names == values["columns"], f"{what}: columns {names}"
    want = [[v for batch in values["batches"] for v in batch[i]] for i in range(len(names))]
    assert got.columns() == want, f"{what}: {got.columns()}, not {want}"
    with pa.ipc.open_stream(output) as reader:
        kinds = [plain(str(decoded(field.type))) for field in reader.schema]
        reader.read_all().validate()
    for kind, wanted in zip(kinds, map(plain, values["types"])):
        assert wanted in (kind, "dictionary"), f"{what}: type {kind}, not {wanted}"


def each(column, wanted):
    for case in cases():
        if case[column] == wanted:
            yield case[0], case[3]


def test_good_streams_equal_their_values():
    compared = 0
    for path, values in each(1, "ok"):
        if values is not None:
            expect_values(run("cat", "--format", "arrow", path), values, path)
            compared += 1
        run("verify", path)
    assert compared >= 35, compared


def test_good_blocks_equal_their_values():
    compared = 0
    for path, values in each(2, "ok"):
        block = as_block(path, values)
        expect_values(run("cat", "--format", "arrow", block), values, f"{path} as a block")
        run("verify", block)
        compared += 1
    assert compared >= 30, compared


def expect_refused(path):
    """None, or what is not as it should be."""
    try:
        refused("cat", "--format", "arrow", path)
        refused("verify", path)
    except AssertionError as error:
        return f"{path}: {error}"
    return None


def test_bad_streams_are_refused_with_a_place():
    found = list(each(1, "bad"))
    wrong = [expect_refused(path) for path, _ in found]
    assert not any(wrong), "\n  ".join(filter(None, wrong))
    assert len(found) >= 80, len(found)


def test_bad_blocks_are_refused_with_a_place():
    wrong, tried = [], 0
    for path, values in each(2, "bad"):
        fault = expect_refused(as_block(path, values))
        wrong.append(fault and f"{path}: {fault}")
        tried += 1
    assert not any(wrong), "\n  ".join(filter(None, wrong))
    assert tried >= 85, tried


def expect_no_harm(*arguments):
    done = subprocess.run([program(), *arguments], capture_output=True, timeout=60)
    message = done.stderr.decode(errors="replace")
    assert done.returncode in (0, 1), f"{arguments}: {done.returncode}: {message}"
    assert message.count("\n") == done.returncode, f"{arguments}: {message}"
    return done.returncode == 0


def test_those_that_may_be_either_do_no_harm():
    for path, values in each(1, "either"):
        read = expect_no_harm("cat", "--limit", "9", path)
        expect_no_harm("verify", path)
        if read and values is not None:
            expect_values(run("cat", "--format", "arrow", path), values, path)


def test_blocks_that_may_be_either_do_no_harm():
    for path, values in each(2, "either"):
        block = as_block(path, values)
        read = expect_no_harm("cat", "--limit", "9", block)
        expect_no_harm("verify", block)
        if read and values is not None:
            expect_values(run("cat", "--format", "arrow", block), values, f"{path} as a block")


if __name__ == "__main__":
    main(sys.modules[__name__])
