"""Checksum files: as Spark names and fills them, with their outputs or not at all, and compared."""

import json
import os
import shutil
import signal
import subprocess
import zlib

from cli_support import (BAD_DATA, GOOD, IO, SMALL_CSV, USAGE, ashuf, expect, get, main, program,
                         put, small, write_small)

STEM = "out/shuffle_0_0_0"
DATA = STEM + ".data"


def crc32c(data):
    """By the polynomial, a bit at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


ALGORITHMS = {"adler32": zlib.adler32, "crc32": zlib.crc32, "crc32c": crc32c}


def numbers(name):
    raw = get(name)
    return [int.from_bytes(raw[i : i + 8], "big") for i in range(0, len(raw), 8)]


def flip(name, bit):
    raw = bytearray(get(name))
    raw[bit // 8] ^= 1 << bit % 8
    put(name, bytes(raw))


def places():
    return numbers(STEM + ".index")


def test_one_big_endian_number_a_partition():
    for name, function in ALGORITHMS.items():
        write_small("--partitions", "5", "--hash", "id", "--checksum", name)
        whole, at = get(DATA), places()
        wanted = [function(whole[at[p] : at[p + 1]]) for p in range(5)]
        assert numbers(f"{STEM}.checksum.{name.upper()}") == wanted, name
        assert len(os.listdir("out")) == 3, os.listdir("out")
        expect(ashuf("verify", "out"), GOOD, err="", out=(
            "file\tstate\tfaults\tindex\tpartitions\tblocks\trows\tbytes\tchecksum\n"
            f"{DATA}\tsound\t0\tyes\t5\t{sum(at[p] < at[p + 1] for p in range(5))}\t6\t{at[-1]}\t"
            f"{name.upper()}\n"))
        (row,) = json.loads(ashuf("info", "out", "--format", "json").out)
        assert row["checksum"] == name.upper()
        # The next write takes them away, whatever their algorithm.
    write_small("--partitions", "5", "--hash", "id")
    assert sorted(os.listdir("out")) == ["shuffle_0_0_0.data", "shuffle_0_0_0.index"]
    (row,) = json.loads(ashuf("verify", "out", "--format", "json").out)
    assert row["checksum"] == "none" and row["state"] == "sound"


def test_shuffle_and_map_numbers_count_up():
    put("small.arrows", small())
    result = expect(ashuf("write", *["small.arrows"] * 3, "-o", "out", "--partitions", "2",
                          "--shuffle-id", "2147483647", "--map-id", "9000000000000000009",
                          "--checksum", "adler32"), GOOD, err="")
    stems = [f"shuffle_2147483647_900000000000000000{i}_0" for i in (9,)]
    stems += [f"shuffle_2147483647_900000000000000001{i}_0" for i in (0, 1)]
    endings = (".checksum.ADLER32", ".data", ".index")
    assert sorted(os.listdir("out")) == sorted(s + e for s in stems for e in endings)
    maps = [line.split("\t")[0] for line in result.out.splitlines()[1:]]
    assert maps == ["9000000000000000009", "9000000000000000010", "9000000000000000011"]
    whole = expect(ashuf("cat", "out"), GOOD, err="").out
    assert whole.count("\n") == 3 * (SMALL_CSV.count("\n") - 1) + 1
    for option, value in (("--shuffle-id", "2147483648"), ("--shuffle-id", "-1"), ("--map-id", "x"),
                          ("--checksum", "md5")):
        expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "2", option, value),
               USAGE, out="")


def test_t12_sixteen_writers_of_six_rows_reach_every_partition():
    put("small.arrows", small())
    for m in range(16):
        expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "10", "--round-robin",
                     "--group-rows", "1", "--map-id", m), GOOD, err="")
    rows = json.loads(ashuf("info", "out", "--partitions", "--format", "json").out)
    found = {p: sum(row["rows"] for row in rows if row["partition"] == p) for p in range(10)}
    assert sum(found.values()) == 96 and min(found.values()) > 0, found


def test_file_mode():
    before = os.umask(0o077)
    try:
        write_small("--partitions", "2", "--checksum", "crc32", "--file-mode", "0640")
    finally:
        os.umask(before)
    modes = {os.stat(os.path.join("out", name)).st_mode & 0o7777 for name in os.listdir("out")}
    assert modes == {0o640}, [oct(mode) for mode in modes]
    for mode in ("0", "888", "0644x", "01777", "rw", "-1", ""):
        expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "2", "--file-mode", mode),
               USAGE, out="",
               err=f"ashuf: write: --file-mode: '{mode}' is no mode such as 0640, from 0001 to 0777\n")


def test_a_failure_leaves_older_checksums():
    write_small("--partitions", "2", "--hash", "id", "--checksum", "crc32")
    before = {name: get(os.path.join("out", name)) for name in os.listdir("out")}
    put("cut.arrows", small()[:900])
    expect(ashuf("write", "small.arrows", "cut.arrows", "-o", "out", "--partitions", "3",
                 "--checksum", "crc32c"), BAD_DATA, out="")
    assert {name: get(os.path.join("out", name)) for name in os.listdir("out")} == before


def test_an_interrupt_leaves_no_checksums():
    for number in (signal.SIGINT, signal.SIGTERM):
        child = subprocess.Popen([program(), "write", "-", "-o", "out", "--partitions", "2",
                                  "--checksum", "crc32c"], stdin=subprocess.PIPE)
        child.stdin.write(small()[:900])
        child.stdin.flush()
        while not (os.path.isdir("out") and os.listdir("out")):
            assert child.poll() is None
        child.send_signal(number)
        assert child.wait(timeout=20) == -number  # a shell says 128 + number
        child.stdin.close()
        assert not os.path.exists("out"), os.listdir("out")


def test_t27_every_flipped_bit_is_told_and_where():
    put("small.arrows", small())
    two = expect(ashuf("cat", "small.arrows", "--columns", "id,name", "--format", "arrow"), GOOD)
    options = ("--partitions", "2", "--hash", "id", "--codec", "none", "--checksum", "crc32c")
    expect(ashuf("write", "-", "-o", "out", *options, stdin=two.bytes), GOOD, err="")
    sound, at = get(DATA), places()
    chunk = 4096
    for first in range(0, len(sound) * 8, chunk):
        os.mkdir("bits")
        bits = range(first, min(first + chunk, len(sound) * 8))
        for bit in bits:
            stem = f"bits/shuffle_0_{bit}_0"
            for ending in (".index", ".checksum.CRC32C"):
                os.link(STEM + ending, stem + ending)
            raw = bytearray(sound)
            raw[bit // 8] ^= 1 << bit % 8
            put(stem + ".data", bytes(raw))
        rows = json.loads(expect(ashuf("verify", "bits", "--format", "json"), BAD_DATA).out)
        assert len(rows) == len(bits)
        for bit, row in zip(bits, rows):
            assert row["file"] == f"bits/shuffle_0_{bit}_0.data" and row["state"] == "unsound", row
            (fault,) = [f for f in row["fault_list"] if f["status"] == "CHECKSUM_MISMATCH"]
            partition = 0 if bit // 8 < at[1] else 1
            assert fault["partition"] == partition and fault["byte"] == at[partition], (bit, fault)
        for bit in bits[:: len(bits) // 8]:
            told = expect(ashuf("cat", f"bits/shuffle_0_{bit}_0.data", "--partition",
                                0 if bit // 8 < at[1] else 1), BAD_DATA, out="").err
            assert ": CRC32C of the partition's bytes is " in told and told.count("\n") == 1, told
        shutil.rmtree("bits")


def damage_a_value():
    """A bit of a name in the second partition that has rows: still legal, if not for the sum."""
    write_small("--partitions", "3", "--range", "id", "--codec", "none", "--checksum", "adler32")
    at = get(DATA).index(b"comma")
    flip(DATA, 8 * at)
    return [p for p in range(3) if places()[p] <= at < places()[p + 1]][0]


def test_cat_compares_before_behind_or_not():
    partition = damage_a_value()
    assert partition == 1
    where = f"ashuf: {DATA}: partition 1, byte {places()[1]}: ADLER32 of the partition's bytes is "
    whole = ashuf("cat", "out", "--verify", "off")
    expect(whole, GOOD, err="")
    assert "bomma" in whole.out
    before = expect(ashuf("cat", "out"), BAD_DATA)
    assert before.err.startswith(where) and before.err.count("\n") == 1, before.err
    assert before.out.count("\n") == 3  # header and the two rows in front
    assert expect(ashuf("cat", "out", "--verify", "before"), BAD_DATA).out == before.out
    behind = expect(ashuf("cat", "out", "--verify", "trailing"), BAD_DATA)
    assert behind.err.startswith(where) and "bomma" in behind.out
    for sound in (0, 2):
        expect(ashuf("cat", "out", "--partition", sound), GOOD, err="")
    told = expect(ashuf("verify", "out", "--verify", "off"), USAGE, out="").err
    assert "unknown option" in told


def test_a_checksum_file_that_cannot_belong():
    name = STEM + ".checksum.CRC32C"
    write_small("--partitions", "3", "--hash", "id", "--checksum", "crc32c")
    put(name, get(name)[:-1])
    told = f"ashuf: {name}: byte 23: the checksum file has 23 bytes, 3 partitions take 24\n"
    for command in ("cat", "info", "verify"):
        expect(ashuf(command, "out"), BAD_DATA, err=told)
    expect(ashuf("cat", "out", "--verify", "off"), GOOD, err="")
    os.remove(name)
    os.mkdir(name)
    for command in ("cat", "info", "verify"):
        expect(ashuf(command, "out"), IO, err=f"ashuf: {name}: cannot read: Is a directory\n")


if __name__ == "__main__":
    main()
