"""arrow-rs, in both directions: it reads what we write, we read the streams and the shuffle blocks
that it writes, and our blocks in its layout are its bytes."""

import os
import shutil
import subprocess
import sys

import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import block_reader  # noqa: E402
import ipc_values  # noqa: E402
from interop_support import build_folder, main, run, unavailable  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrow_rs")
# Dictionaries with values that are null or equal: we write each value once, and nulls as keys.
REPACKED = ("dictionary_null_values", "dictionary_uint64")
# Slots that no row shows, below nulls of fixed-size lists and beside the member that a sparse
# union selects: what the program gathers has nulls and zeros there, so that its bytes depend on
# the rows alone; arrow-rs writes, and compares, what lies there.
HIDDEN_SLOTS = ("fixed_size_list", "fixed_size_list_of_text", "list_of_sparse_union",
                "sparse_union", "struct_of_union", "together")
CODECS = ("none", "lz4", "zstd", "snappy")
LAYOUTS = ("compact", "arrow-rs")


def built():
    """The Rust program."""
    if not shutil.which("cargo"):
        unavailable("cargo, which builds the program with arrow-rs, is not installed")
    target = build_folder("interop-arrow-rs")
    manifest = os.path.join(SOURCES, "Cargo.toml")
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest]
    environment = {**os.environ, "CARGO_TARGET_DIR": target}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1000)
    if done.returncode != 0:
        unavailable(f"cargo build: {done.stderr[-2000:]}")
    return os.path.join(target, "release", "arrow_rs_interop")


PROGRAM = built()


def schema_of(path):
    with pa.ipc.open_stream(path) as reader:
        return reader.schema


def cases():
    """Names of what arrow-rs wrote into the current folder."""
    subprocess.run([PROGRAM, "write", "."], check=True, timeout=300)
    names = [n.removesuffix(".none.data") for n in os.listdir(".") if n.endswith(".none.data")]
    assert len(names) >= 75, names
    return sorted(names)


def plain(name):
    """The stream of a case without dictionaries; runs stay."""
    path = f"{name}.plain.arrows"
    runs = "run_end" in str(schema_of(f"{name}.arrows"))
    return path if os.path.exists(path) and not runs else f"{name}.arrows"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return path


def expect_same_rows(theirs, ours):
    want = ipc_values.decode(read(theirs))
    got = ipc_values.decode(read(ours))
    assert got.rows == want.rows, ours


def expect_same(pairs):
    """(theirs, ours): arrow-rs finds the same in both; the rows are the same where it would
    compare slots of sparse unions that no row shows."""
    by_rows = [pair for pair in pairs if "sparse_union" in str(schema_of(pair[0]))]
    for theirs, ours in by_rows:
        expect_same_rows(theirs, ours)
    pairs = [pair for pair in pairs if pair not in by_rows]
    lines = "".join(f"{theirs}\t{ours}\n" for theirs, ours in pairs)
    command = [PROGRAM, "compare"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[:2000] + done.stderr


def test_streams_of_arrow_rs_are_read():
    pairs = []
    for name in cases():
        ours = put(f"{name}.cat", run("cat", "--format", "arrow", f"{name}.arrows"))
        run("verify", f"{name}.arrows")
        pairs.append((plain(name), ours))
    expect_same(pairs)


def test_the_rows_are_those_that_a_third_reader_finds():
    for name in cases():
        want = ipc_values.decode(read(f"{name}.arrows"))
        got = ipc_values.decode(run("cat", "--format", "arrow", f"{name}.arrows"))
        assert got.rows == want.rows, name
        assert got.columns() == want.columns(), name


def test_blocks_of_arrow_rs_are_read():
    pairs = []
    for name in cases():
        for codec in CODECS:
            path = f"{name}.{codec}.data"
            pairs.append((plain(name), put(path + ".cat", run("cat", "--format", "arrow", path))))
            run("verify", path)
    expect_same(pairs)


def written(name, *options):
    """The data file that the program makes of a stream of arrow-rs."""
    run("write", f"{name}.arrows", "-o", "out", "--partitions", "1", *options)
    return read("out/shuffle_0_0_0.data")


def test_arrow_rs_reads_our_blocks():
    pairs = []
    for name in cases():
        for codec in CODECS:
            for layout in LAYOUTS:
                data = written(name, "--codec", codec, "--layout", layout)
                (stream,) = block_reader.streams(data)
                pairs.append((f"{name}.arrows", put(f"{name}.{codec}.{layout}", stream)))
    expect_same(pairs)


def test_blocks_in_its_layout_are_its_bytes():
    different = []
    for name in cases():
        ours = written(name, "--codec", "none", "--layout", "arrow-rs")
        if name not in REPACKED + HIDDEN_SLOTS and ours != read(f"{name}.none.data"):
            different.append(name)
    assert not different, ", ".join(different)


if __name__ == "__main__":
    main(sys.modules[__name__])
