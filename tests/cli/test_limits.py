"""Memory: what the program allows itself, spilling beyond it, and sizes as options say them."""

import json
import os
import shutil
import subprocess

from cli_support import GOOD, IO, USAGE, Skip, ashuf, expect, get, main, put, small

MIB = 1 << 20


def library():
    """fake_groups.c, built here."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_groups.c")
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("cc")
    if compiler is None:
        raise Skip("no C compiler")
    subprocess.run([compiler, "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", "fake_groups.so", source,
                    "-ldl"], check=True)
    return os.path.abspath("fake_groups.so")


def put_long(name="long.arrows", batches=48):
    """Half a MiB of int64 a batch, all different."""
    try:
        import pyarrow as pa
    except ImportError as why:
        raise Skip("no pyarrow") from why
    schema = pa.schema([("k", pa.int64())])
    with pa.ipc.new_stream(name, schema) as writer:
        for i in range(batches):
            keys = pa.array(range(i * 65536, (i + 1) * 65536), pa.int64())
            writer.write_batch(pa.record_batch([keys], schema=schema))


def write(*options, directory="out", status=GOOD, **more):
    shutil.rmtree(directory, ignore_errors=True)
    result = expect(ashuf("write", "long.arrows", "-o", directory, "--partitions", "7", "--hash",
                          "k", "--stats", "json", *options, **more), status)
    return json.loads(result.out)[0] if status == GOOD else result.err


class Groups:
    """Control groups as files."""

    def __init__(self):
        self.built = library()
        self.root = os.path.abspath("fake")

    def set(self, group, **limits):
        """group: the text of /proc/self/cgroup; limits: path with __ for / -> text."""
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(os.path.join(self.root, "proc/self"))
        put(os.path.join(self.root, "proc/self/cgroup"), group.encode())
        for name, text in limits.items():
            parts = name.split("__")
            ending = {"max": "memory.max", "high": "memory.high",
                      "v1": "memory.limit_in_bytes"}[parts[-1]]
            folder = os.path.join(self.root, "sys/fs/cgroup", *parts[:-1])
            os.makedirs(folder, exist_ok=True)
            put(os.path.join(folder, ending), text.encode() + b"\n")

    def environment(self):
        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {"LD_PRELOAD": self.built, "FAKE_ROOT": self.root, "ASAN_OPTIONS": sanitizer}


def test_half_of_the_control_group_and_those_around_it():
    put_long()
    groups = Groups()
    small_one, huge = str(32 * MIB), "9223372036854771712"
    v1 = "5:cpu,cpuacct:/a\n4:memory:/a/b\n1:name=systemd:/a/b\n"
    cases = (
        ("0::/a/b\n", {"a__b__max": small_one, "a__max": "max"}, True),
        ("0::/a/b\n", {"a__b__max": "max", "a__max": small_one}, True),
        ("0::/a/b\n", {"a__b__max": "max", "a__max": "max", "max": small_one}, True),
        ("0::/a/b\n", {"a__b__high": small_one}, True),
        ("0::/of/the/host\n", {"max": small_one}, True),  # inside a container
        ("0::/a\n", {"a__max": "max", "b__max": small_one}, False),
        ("0::/a\n", {}, False),
        ("", {"max": small_one}, False),
        (v1, {"memory__a__b__v1": huge, "memory__a__v1": small_one, "memory__v1": huge}, True),
        (v1, {"memory__a__b__v1": huge, "memory__v1": huge, "a__b__max": small_one}, False),
        (v1 + "0::/x\n", {"memory__a__b__v1": huge, "x__max": small_one}, True),
    )
    for group, limits, limited in cases:
        groups.set(group, **limits)
        row = write(env=groups.environment())
        assert (row["spills"] > 0) == limited, (group, limits, row)
    groups.set("0::/\n", max=small_one)
    # An explicit limit counts more.
    assert write("--memory-limit", "1GiB", env=groups.environment())["spills"] == 0


def test_beyond_the_limit_rows_are_spilled_and_the_bytes_are_the_same():
    put_long()
    whole = write(directory="whole")
    assert whole["spills"] == whole["disk_spilled"] == whole["memory_spilled"] == 0
    os.mkdir("a")
    os.mkdir("b")
    for options in (("--memory-limit", "8MiB"), ("--memory-limit", "2M", "--threads", "2"),
                    ("--memory-limit", "8MiB", "--spill-dir", "a", "--spill-dir", "b")):
        row = write(*options)
        assert row["spills"] > 0 and row["disk_spilled"] > 0, row
        assert row["memory_spilled"] >= 8 * row["rows"] // 2, row
        for name in os.listdir("whole"):
            assert get("out/" + name) == get("whole/" + name), (options, name)
        assert os.listdir("a") == os.listdir("b") == []
    for name, why in (("nowhere", "No such file or directory"), ("long.arrows", "Not a directory")):
        err = write("--spill-dir", "a", "--spill-dir", name, status=IO)
        assert err == f"ashuf: {name}: cannot be a spill directory: {why}\n", err
        assert not os.path.exists("out")


def test_a_spill_directory_that_is_full():
    put_long()
    if os.geteuid() != 0 or not os.path.isdir("/dev/shm"):
        raise Skip("not root")
    os.mkdir("tiny")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "tiny"],
                             stderr=subprocess.DEVNULL, check=False)
    if mounted.returncode != 0:
        raise Skip("cannot mount")
    try:
        err = write("--memory-limit", "2M", "--spill-dir", "tiny", status=IO)
        assert err == ("ashuf: out/shuffle_0_0_0.data: cannot write a spill file: No space left on "
                       "device\n"), err
        assert not os.path.exists("out") and os.listdir("tiny") == []
    finally:
        subprocess.run(["umount", "tiny"], check=True)


def test_stats_say_what_each_partition_got():
    put_long(batches=1)
    row = write("--checksum", "crc32c")
    assert sum(row["partition_rows"]) == row["rows"] == 65536
    assert sum(row["partition_bytes"]) == row["bytes"]
    sums = get("out/shuffle_0_0_0.checksum.CRC32C")
    assert row["partition_checksums"] == [int.from_bytes(sums[i : i + 8], "big")
                                          for i in range(0, len(sums), 8)]
    for key in ("raw_bytes", "schema_encodes", "partition_ns", "spill_ns", "read_ns", "encode_ns",
                "write_ns"):
        assert isinstance(row[key], int), key
    assert write()["partition_checksums"] is None


def test_sizes_that_are_none():
    put("small.arrows", small())
    for option in ("--memory-limit", "--max-body"):
        for size in ("0", "", "-1", "+1", "1.5M", "1.5GiB", "M", "MiB", "64MB", "12MB", "1 M",
                     "9223372036854775808", "9000000000G", "9999999999999GiB"):
            expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "1", option, size),
                   USAGE, out="", err=f"ashuf: write: {option}: '{size}' is not a size, as in "
                                      "4096, 64KiB, 512MiB or 2GiB\n")
        for size in ("1000000", "64K", "64KiB", "1M", "1MiB", "1G", "1GiB", "1T", "1TiB"):
            expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "1", option, size),
                   GOOD, err="")


if __name__ == "__main__":
    main()
