"""The Arrow JavaScript package reads what we write: the program's streams and those in blocks."""

import decimal
import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import block_reader  # noqa: E402
import ipc_values  # noqa: E402
from interop_support import (  # noqa: E402
    all_types,
    build_folder,
    main,
    newer_types,
    run,
    table_of,
    test_data,
    unavailable,
)

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrow_js")
# Types that the package knows nothing of.
NOT_READ = ("list_view", "run_end_encoded")


def same(one, other):
    with open(one, "rb") as a, open(other, "rb") as b:
        return a.read() == b.read()


def installed():
    """The folder with the package, of the versions that the lock file says."""
    folder = build_folder("interop-arrow-js")
    if not shutil.which("npm"):
        unavailable("npm, which brings the Arrow JavaScript package, is not installed")
    lock, stamp = os.path.join(SOURCES, "package-lock.json"), os.path.join(folder, "installed")
    if os.path.exists(stamp) and same(lock, stamp):
        return folder
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(SOURCES, name), folder)
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        unavailable(f"npm ci: {done.stderr[-800:]}")
    shutil.copy(lock, stamp)
    return folder


def by_javascript(paths):
    command = ["node", os.path.join(SOURCES, "read.mjs"), *map(os.path.abspath, paths)]
    done = subprocess.run(command, cwd=installed(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def from_javascript(value):
    """Decimals come in two parts."""
    if isinstance(value, dict):
        with decimal.localcontext(decimal.Context(prec=100)):
            return str(decimal.Decimal(value["unscaled"]).scaleb(-value["scale"]))
    return [from_javascript(v) for v in value] if isinstance(value, list) else value


def for_javascript(value):
    """Integers are strings there."""
    if isinstance(value, list):
        return [for_javascript(v) for v in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def bytes_of(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=33):
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def put(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return path


def ours(name):
    """(where from, paths): the program's stream of a file, those in its blocks in both layouts."""
    yield "cat", [put(f"{name}.cat", run("cat", "--format", "arrow", name))]
    for layout in ("compact", "arrow-rs"):
        run("write", name, "-o", name + layout, "--partitions", "1", "--layout", layout)
        with open(f"{name}{layout}/shuffle_0_0_0.data", "rb") as file:
            streams = block_reader.streams(file.read())
        yield layout, [put(f"{name}.{layout}.{i}", stream) for i, stream in enumerate(streams)]


def expect_columns(parts, want, what):
    for part in parts:
        assert "unread" not in part, f"{what}: {part['unread']}"
    assert sum(part["rows"] for part in parts) == sum(want.rows), what
    for i, column in enumerate(want.columns()):
        got = [from_javascript(v) for part in parts for v in part["columns"][i]]
        for row, (x, y) in enumerate(zip(got, for_javascript(column))):
            assert x == y, f"{what}: {want.fields[i].name}: row {row}: {x}, not {y}"


def check(streams):
    """(what it is, the stream as another wrote it): what the package finds in ours is the same."""
    todo = []
    for number, (what, stream) in enumerate(streams):
        want = ipc_values.decode(stream)
        for source, paths in ours(put(f"in{number}", stream)):
            todo.append((f"{what}, {source}", want, paths))
    found = iter(by_javascript([path for _, _, paths in todo for path in paths]))
    for what, want, paths in todo:
        expect_columns([next(found) for _ in paths], want, what)


def test_every_type():
    kinds = all_types() + newer_types()
    kinds = [kind for kind in kinds if not any(word in str(kind) for word in NOT_READ)]
    check((str(kind), bytes_of(table_of([kind], 100))) for kind in kinds)


def test_types_together():
    check([("together", bytes_of(table_of(all_types(), 100)))])


def test_streams_of_arrow_rs():
    """Intervals, half floats and whatever pyarrow cannot make."""
    root = test_data("own_golden")
    names = [name for name in sorted(os.listdir(root)) if name.endswith(".arrows")] if root else []
    found = []
    for name in names:
        path = os.path.join(root, name)
        with pa.ipc.open_stream(path) as reader:
            kinds = str(reader.schema)
        if not any(word in kinds for word in NOT_READ):
            with open(path, "rb") as file:
                found.append((name, file.read()))
    check(found)
    assert not names or len(found) > 75, len(found)


if __name__ == "__main__":
    main(sys.modules[__name__])
