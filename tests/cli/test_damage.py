"""Damaged files: each is one line with its place, exit status 1, and never a crash."""

import json
import os
import re

from cli_support import BAD_DATA, GOOD, IO, ashuf, expect, get, main, put, small, write_small

DATA, INDEX = "out/shuffle_0_0_0.data", "out/shuffle_0_0_0.index"
LINE = re.compile(r"ashuf: out/shuffle_0_0_0\.data: partition \d+, block \d+, byte \d+"
                  r"(, stream byte \d+)?: [^\n]+\n")


def offsets():
    raw = get(INDEX)
    return [int.from_bytes(raw[i : i + 8], "big") for i in range(0, len(raw), 8)]


def flip(name, at, bits=0x40):
    raw = bytearray(get(name))
    raw[at] ^= bits
    put(name, bytes(raw))


def full_partitions():
    places = offsets()
    return [p for p in range(len(places) - 1) if places[p + 1] > places[p]]


def verify_json():
    result = expect(ashuf("verify", "out", "--format", "json"), BAD_DATA)
    (row,) = json.loads(result.out)
    assert row["state"] == "unsound" and row["faults"] == len(row["fault_list"])
    assert result.err.count("\n") == row["faults"]
    return row


def test_sound():
    write_small("--partitions", "3", "--hash", "id")
    expect(ashuf("verify", "out"), GOOD, err="", out=(
        "file\tstate\tfaults\tindex\tpartitions\tblocks\trows\tbytes\tchecksum\n"
        f"{DATA}\tsound\t0\tyes\t3\t{len(full_partitions())}\t6\t{os.path.getsize(DATA)}\tnone\n"))
    expect(ashuf("verify", "small.arrows"), GOOD, err="", out=(
        "file\tstate\tfaults\tindex\tpartitions\tblocks\trows\tbytes\tchecksum\n"
        f"small.arrows\tsound\t0\t\t\t1\t6\t{len(small())}\t\n"))


def test_unknown_codec_names_the_place():
    write_small("--partitions", "3", "--hash", "id")
    partition = full_partitions()[-1]
    at = offsets()[partition] + 16
    flip(DATA, at)
    row = verify_json()
    (fault,) = row["fault_list"]
    assert fault["status"] == "UNKNOWN_CODEC"
    assert (fault["partition"], fault["block"], fault["byte"]) == (partition, 0, at)


def test_the_check_goes_on_behind_a_fault():
    write_small("--partitions", "3", "--hash", "id")
    parts = full_partitions()
    assert len(parts) >= 2
    for partition in parts:
        flip(DATA, offsets()[partition] + 17)
    row = verify_json()
    assert [fault["partition"] for fault in row["fault_list"]] == parts
    assert row["blocks"] == 0


def test_every_flipped_header_byte_is_found():
    write_small("--partitions", "2", "--hash", "id", "--codec", "none")
    sound = get(DATA)
    for at in range(20):
        flip(DATA, at)
        for command in ("cat", "verify"):
            result = expect(ashuf(command, "out"), BAD_DATA)
            assert LINE.fullmatch(result.err), result.err
        put(DATA, sound)


def test_flipped_bytes_never_crash():
    for codec in ("none", "lz4", "zstd"):
        write_small("--partitions", "1", "--codec", codec)
        sound = get(DATA)
        for at in range(20, len(sound), 61):
            flip(DATA, at, 0x81)
            result = ashuf("verify", "out")
            assert result.status in (GOOD, BAD_DATA), (codec, at, result.status, result.err)
            assert result.status == GOOD or LINE.fullmatch(result.err), (codec, at, result.err)
            put(DATA, sound)


def test_cat_prints_what_came_before_the_damage():
    write_small("--partitions", "3", "--hash", "id")
    whole = ashuf("cat", "out").out
    flip(DATA, offsets()[full_partitions()[-1]] + 16)
    result = expect(ashuf("cat", "out"), BAD_DATA)
    assert whole.startswith(result.out) and result.out != whole
    assert LINE.fullmatch(result.err), result.err


def test_data_cut_short():
    write_small("--partitions", "3", "--hash", "id")
    put(DATA, get(DATA)[:-5])
    for command in ("cat", "info", "verify"):
        result = expect(ashuf(command, "out"), BAD_DATA)
        assert result.err.startswith(f"ashuf: {INDEX}: "), result.err
        assert result.err.count("\n") == 1
    os.remove(INDEX)
    result = expect(ashuf("verify", DATA), BAD_DATA)
    assert LINE.fullmatch(result.err), result.err


def test_index_damaged():
    write_small("--partitions", "3", "--hash", "id")
    sound = get(INDEX)
    for index in (sound[:-3], sound[:8], b"", b"\xff" * 32, sound[:8] + b"\xff" * 8 + sound[16:],
                  sound[8:]):
        put(INDEX, index)
        for command in ("cat", "info", "verify"):
            result = expect(ashuf(command, "out"), BAD_DATA)
            assert result.err.startswith(f"ashuf: {INDEX}: "), (index, result.err)
            assert result.err.count("\n") == 1, result.err


def test_ipc_cut_short():
    for size in (8, 200, 900, len(small()) - 60):
        put("cut.arrows", small()[:size])
        result = expect(ashuf("verify", "cut.arrows"), BAD_DATA)
        assert re.fullmatch(r"ashuf: cut\.arrows: [^\n]+\n", result.err), result.err
        expect(ashuf("cat", "cut.arrows", "--format", "jsonl"), BAD_DATA)


def test_the_other_files_are_still_checked():
    write_small("--partitions", "3", "--hash", "id")
    flip(DATA, 16)
    result = expect(ashuf("verify", "out", "small.arrows"), BAD_DATA)
    states = [line.split("\t")[1] for line in result.out.splitlines()[1:]]
    assert states == ["unsound", "sound"]
    result = expect(ashuf("verify", "out", "nope", "small.arrows"), IO)
    assert len(result.out.splitlines()) == 3 and result.err.count("\n") == 2


def test_standard_input_is_named_once():
    result = expect(ashuf("cat", "-"), BAD_DATA, out="")
    assert result.err == ("ashuf: standard input: byte 0: is empty; an Arrow stream begins with a"
                          " schema\n"), result.err


if __name__ == "__main__":
    main()
