"""Rows go where Spark with Comet sent them: the placement of every captured shuffle."""

import json
import random
import re
import sys

import pyarrow as pa
import pyarrow.compute as pc

import block_reader
from interop_support import fails, main, run, test_data

SPARK_SORTS = re.compile(r"(byp|srt)_.*rr")  # Spark's own round robin sorts the rows first


def cases():
    root = test_data("comet")
    if root is None:
        return
    with open(f"{root}/manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    for case in manifest["cases"]:
        with pa.ipc.open_stream(f"{root}/{case['case']}/expected.arrows") as reader:
            yield case, named(case, reader.read_all())


def named(case, rows):
    """Comet's JVM writers call their columns c0, c1, ...: the names they had."""
    if rows.column_names[0] != "c0":
        return rows
    names = [field["name"] for field in case["schema"]["fields"]]
    return rows.rename_columns(names + rows.column_names[len(names):])


def write_ipc(table, path):
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def write_maps(rows, order=None):
    """The rows of each map output as an input of its own, its row numbers in front."""
    names = []
    partitions = []
    for number in sorted(set(rows["__map"].to_pylist())):
        part = rows.filter(pc.equal(rows["__map"], number))
        if order is not None:
            part = part.take(pc.sort_indices(part, sort_keys=[(order, "ascending")]))
        partitions.append(part["__partition"].to_pylist())
        part = part.drop_columns(["__map", "__partition", "__block"])
        part = part.append_column("__row", pa.array(range(part.num_rows), pa.int32()))
        names.append(f"map{number}.arrows")
        write_ipc(part, names[-1])
    return names, partitions


def placement(number, n_rows):
    """The partition of each row of a map output we wrote."""
    found = [None] * n_rows
    with open(f"out/shuffle_0_{number}_0.data", "rb") as file:
        data = file.read()
    with open(f"out/shuffle_0_{number}_0.index", "rb") as file:
        index = file.read()
    for partition, blocks in enumerate(block_reader.partitions(data, index)):
        rows = []
        for _, _, batch in block_reader.blocks(blocks):
            rows += batch.column(batch.schema.get_field_index("__row")).to_pylist()
        assert rows == sorted(rows), "input order is not kept"
        for row in rows:
            assert found[row] is None
            found[row] = partition
    return found


def check(case, rows, *options, order=None, partitions=None):
    names, wanted = write_maps(rows, order)
    n = str(partitions or case["index_partitions"])
    run("write", *names, "-o", "out", "--partitions", n, "--codec", "none", *options)
    for number, partition in enumerate(wanted):
        assert placement(number, len(partition)) == partition, f"{case['case']}, map {number}"


def test_hash_placement_of_every_capture():
    checked = 0
    for case, rows in cases():
        if case["partitioning"].startswith("hash") and rows.num_rows > 0:
            check(case, rows, "--hash", ",".join(case["keys"]))
            checked += 1
    assert checked > 70 or test_data("comet") is None, checked


def test_positional_round_robin_of_the_captures():
    checked = 0
    for case, rows in cases():
        if "positional" in case["case"]:
            check(case, rows, "--round-robin", "--group-rows", "8", order="id")
            checked += 1
    assert checked == 2 or test_data("comet") is None, checked


def test_positions_run_on_across_batches():
    """Map 0 of 10 partitions draws 8, and Spark counts up before the first row."""
    table = table_with_keys(1000, 1)
    with pa.OSFile("a.arrows", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=37)
    written(["a.arrows"], "--partitions", "10", "--round-robin", "--group-rows", "9")
    assert placement(0, 1000) == [(9 + i // 9) % 10 for i in range(1000)]


def test_round_robin_by_content_of_the_captures():
    checked = 0
    for case, rows in cases():
        name = case["case"]
        if case["partitioning"] != "round robin" or "positional" in name or "zerocol" in name:
            continue
        if not SPARK_SORTS.match(name) and rows.num_rows > 0:
            check_content(case, rows)
            checked += 1
    assert checked > 0 or test_data("comet") is None, checked


def check_content(case, rows):
    """The row number is the last column, which is left out of the hash."""
    n_columns = rows.num_columns - 3
    check(case, rows, "--round-robin=hash", "--max-hash-columns", str(n_columns))


def sort_keys(case):
    """The keys as (name, descending) and as --range has them."""
    keys = [(key.split()[0], key.endswith(" desc")) for key in case["keys"]]
    return keys, ",".join(name + (":desc" if desc else "") for name, desc in keys)


def key_rows(rows, keys):
    """Ranks that compare as the keys do, a tuple a row: SQL's nulls, NaN greatest, one zero."""
    columns = []
    for name, desc in keys:
        values = rows[name].to_pylist()
        known = {v for v in values if v is not None and v == v}
        rank = {v: i for i, v in enumerate(sorted(known))}
        ranks = [-1 if v is None else rank.get(v, len(rank)) for v in values]
        columns.append([-r for r in ranks] if desc else ranks)
    return list(zip(*columns))


def test_ranges_of_the_captures():
    """The partitions are ordered; their edges taken as bounds part the rows as they are."""
    checked = 0
    for case, rows in cases():
        if not case["partitioning"].startswith("range"):
            continue
        keys, option = sort_keys(case)
        ranks = key_rows(rows, keys)
        partitions = rows["__partition"].to_pylist()
        order = sorted(range(len(ranks)), key=lambda i: (ranks[i], partitions[i]))
        assert [partitions[i] for i in order] == sorted(partitions), case["case"]
        first = partitions[order[0]]
        filled = sorted(set(partitions))
        native = case["writer"] == "native"
        # To Comet native the least key may be a bound, and nothing is left of it.
        assert first == 0 or (native and first == 1), case["case"]
        assert filled == list(range(first, first + len(filled))), case["case"]
        pairs = list(zip(order, order[1:]))
        edges = [b if native else a for a, b in pairs if partitions[a] != partitions[b]]
        edges = order[:first] + edges
        assert all(ranks[a] != ranks[b] for a, b in pairs if partitions[a] != partitions[b])
        bounds = rows.select([name for name, _ in keys]).take(edges).combine_chunks()
        write_ipc(bounds, "bounds.arrows")
        rule = "comet" if native else "spark"
        check(case, rows, "--range", option, "--bounds", "bounds.arrows", "--range-rule", rule)
        checked += 1
    assert checked >= 5 or test_data("comet") is None, checked


# ---- Bounds of our own ----------------------------------------------------------------------------


def written(names, *options):
    out = run("write", *names, "-o", "out", "--codec", "none", "--format", "json", *options)
    return json.loads(out)


def table_with_keys(n, seed):
    draw = random.Random(seed)
    keys = [draw.randrange(10**6) if draw.random() > 0.05 else None for _ in range(n)]
    words = [f"word {key}" if key is not None else None for key in keys]
    columns = {"k": pa.array(keys, pa.int64()), "w": pa.array(words)}
    return pa.table({**columns, "__row": pa.array(range(n), pa.int32())})


def test_sampled_bounds_are_ordered_and_even():
    tables = [table_with_keys(n, n) for n in (20000, 500, 9000)]
    names = [f"in{i}.arrows" for i in range(3)]
    for name, table in zip(names, tables):
        write_ipc(table, name)
    for key, reverse in (("k", False), ("k:desc", True), ("w:desc:nulls-first,k", True)):
        report = written(names, "--partitions", "8", "--range", key)
        bounds = [bound[key[0]] for bound in report[0]["bounds"]]
        values = [bound for bound in bounds if bound is not None]
        assert len(bounds) == 7 and values == sorted(values, reverse=reverse), bounds
        counts = [0] * 8
        for number, table in enumerate(tables):
            for partition in placement(number, table.num_rows):
                counts[partition] += 1
        assert max(counts) < 1.5 * sum(counts) / 8, counts
        again = written(names, "--partitions", "8", "--range", key)
        other = written(names, "--partitions", "8", "--range", key, "--seed", "5")
        assert again[0]["bounds"] == report[0]["bounds"] != other[0]["bounds"]


def test_bounds_of_one_run_serve_another():
    write_ipc(table_with_keys(3000, 1), "a.arrows")
    sampled = written(["a.arrows"], "--partitions", "5", "--range", "k:nulls-last")
    first = placement(0, 3000)
    bounds = pa.table({"k": pa.array([b["k"] for b in sampled[0]["bounds"]], pa.int64())})
    write_ipc(bounds, "bounds.arrows")
    options = ["--partitions", "5", "--range", "k:nulls-last", "--bounds", "bounds.arrows"]
    assert written(["a.arrows"], *options)[0]["bounds"] == sampled[0]["bounds"]
    assert placement(0, 3000) == first
    with open("a.arrows", "rb") as file:
        run("write", "-", "-o", "out", *options, stdin=file.read())
    written(["a.arrows"], *options, "--range-rule", "comet")
    right = placement(0, 3000)
    differ = [i for i in range(3000) if right[i] != first[i]]
    assert 4 <= len(differ) < 20 and all(right[i] == first[i] + 1 for i in differ)


def test_bounds_that_do_not_fit_are_refused():
    write_ipc(table_with_keys(10, 1), "a.arrows")
    start = ["write", "a.arrows", "-o", "out", "--partitions", "3", "--range", "k"]
    tries = [(pa.int64(), [5, 3], "bound 1 lies before bound 0"),
             (pa.int64(), [1, 2, 3], "more than 2 different bounds"),
             (pa.int32(), [1, 2], "column 0 of the bounds is int32, the key is int64")]
    for kind, values, text in tries:
        write_ipc(pa.table({"x": pa.array(values, kind)}), "bounds.arrows")
        status, message = fails(*start, "--bounds", "bounds.arrows")
        assert status in (1, 2) and text in message and "bounds.arrows" in message, message
    two = pa.table({"k": pa.array([1], pa.int64()), "w": pa.array(["x"])})
    write_ipc(two, "bounds.arrows")
    assert "bounds of 2 columns" in fails(*start, "--bounds", "bounds.arrows")[1]


if __name__ == "__main__":
    main(sys.modules[__name__])
