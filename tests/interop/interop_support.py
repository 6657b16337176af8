"""What the tests against pyarrow share: tables of every type, running ashuf, comparing."""

import datetime
import decimal
import os
import re
import subprocess
import sys
import tempfile

import pyarrow as pa


def program():
    path = os.environ.get("ASHUF_BIN")
    if not path:
        print("ASHUF_BIN is not set: skipped")
        sys.exit(77)
    return path


def unavailable(why):
    """Ends the tests, as skipped; with CI set as failed."""
    print(why)
    sys.exit(1 if os.environ.get("CI") else 77)


def build_folder(name):
    """A folder in the build folder, made."""
    root = os.environ.get("ASHUF_BUILD_DIR")
    if not root:
        unavailable("ASHUF_BUILD_DIR is not set: skipped")
    os.makedirs(os.path.join(root, name), exist_ok=True)
    return os.path.join(root, name)


def test_data(*parts):
    """A path in the test data, or None."""
    root = os.environ.get("ASHUF_TEST_DATA")
    for base in (root, os.path.join(root, "data")) if root else ():
        path = os.path.join(base, *parts)
        if os.path.exists(path):
            return path
    return None


def run(*arguments, stdin=None):
    """The standard output of a run that must succeed."""
    done = subprocess.run([program(), *arguments], input=stdin, capture_output=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def fails(*arguments, stdin=None):
    """Exit status and message of a run that must fail."""
    done = subprocess.run([program(), *arguments], input=stdin, capture_output=True, timeout=300)
    assert done.returncode != 0, f"{arguments} succeeded"
    return done.returncode, done.stderr.decode(errors="replace")


def refused(*arguments):
    """The message of a run that must find its input bad: one line, and the place of the fault."""
    status, message = fails(*arguments)
    assert status == 1, f"exit status {status}: {message}"
    assert message.count("\n") == 1 and message.endswith("\n"), message
    assert re.search(r"\bbyte \d+", message), f"no offset: {message}"
    return message


def read_stream(data, full=True):
    with pa.ipc.open_stream(data) as reader:
        table = reader.read_all()
    table.validate(full=full)
    return table


# ---- Tables -------------------------------------------------------------------------------------

FLOATS = [0.5, -0.0, float("inf"), -2.25]
WORDS = ["", "a", "Grüße", "日本", "plain", "x" * 300, "quote\"d", "\0nul"]


def word(i):
    return WORDS[i % len(WORDS)] if i < 30 else f"w{i}"


def values(kind, n):
    """n physical values of a type, each third null."""
    make = {
        pa.types.is_null: lambda i: None,
        pa.types.is_boolean: lambda i: i % 2 == 0,
        pa.types.is_unsigned_integer: lambda i: (1 << kind.bit_width) - 1 - i % 200,
        pa.types.is_signed_integer: lambda i: (-1) ** i * ((1 << kind.bit_width - 1) - 1 - i % 100),
        pa.types.is_floating: lambda i: FLOATS[i % 4] if i < 30 else i / 4,
        pa.types.is_decimal: lambda i: decimal.Decimal(i * 7 - 300).scaleb(-kind.scale),
        pa.types.is_fixed_size_binary: lambda i: bytes([i % 256] * kind.byte_width),
        pa.types.is_binary: lambda i: word(i).encode(),
        pa.types.is_large_binary: lambda i: word(i).encode() * 2,
        pa.types.is_string: word,
        pa.types.is_string_view: lambda i: word(i) + "!" * (i % 20),
        pa.types.is_binary_view: lambda i: word(i).encode() * (i % 3),
        pa.types.is_large_string: lambda i: word(i) * 2,
        pa.types.is_date: lambda i: datetime.date.fromordinal(719163 + i * 99 - 5000),
        pa.types.is_time: lambda i: datetime.time(i % 24, i % 60, i * 7 % 60),
        pa.types.is_timestamp: lambda i: datetime.datetime(1900 + i % 200, 2, 3, i % 24, i % 60),
        pa.types.is_duration: lambda i: datetime.timedelta(days=i - 40, seconds=i),
        pa.types.is_interval: lambda i: (i - 5, -i, i * 10**6),
        pa.types.is_fixed_size_list: lambda i: values(kind.value_type, kind.list_size),
        pa.types.is_list: lambda i: values(kind.value_type, i % 5),
        pa.types.is_large_list: lambda i: values(kind.value_type, i % 4),
        pa.types.is_list_view: lambda i: values(kind.value_type, i % 5),
        pa.types.is_large_list_view: lambda i: values(kind.value_type, i % 4),
        pa.types.is_struct: lambda i: {f.name: values(f.type, i % 7 + 1)[-1] for f in kind},
        pa.types.is_map: lambda i: list(
            zip([f"k{k}" for k in range(i % 4)], values(kind.item_type, i % 4))
        ),
        pa.types.is_dictionary: lambda i: values(kind.value_type, i % 6 + 1)[-1],
    }
    # The more special checks come first: a decimal is fixed-size binary to some of them.
    for check, value in make.items():
        if check(kind):
            return [None if i % 3 == 2 else value(i) for i in range(n)]
    raise NotImplementedError(str(kind))


def decoded(kind):
    """The type with dictionaries replaced by their values."""
    if pa.types.is_dictionary(kind):
        return decoded(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([f.with_type(decoded(f.type)) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field, kind.item_field.with_type(decoded(kind.item_type)))
    if pa.types.is_union(kind):
        return pa.union([f.with_type(decoded(f.type)) for f in kind], kind.mode, kind.type_codes)
    if pa.types.is_run_end_encoded(kind):
        return pa.run_end_encoded(kind.run_end_type, decoded(kind.value_type))
    for check, make in (
        (pa.types.is_fixed_size_list, lambda f: pa.list_(f, kind.list_size)),
        (pa.types.is_large_list_view, pa.large_list_view),
        (pa.types.is_list_view, pa.list_view),
        (pa.types.is_large_list, pa.large_list),
        (pa.types.is_list, pa.list_),
    ):
        if check(kind):
            return make(kind.value_field.with_type(decoded(kind.value_type)))
    return kind


def array(kind, n):
    if any(word in str(kind) for word in ("union", "run_end", "list_view<item: dictionary")):
        return assemble(kind, n)
    return encode(pa.array(values(kind, n), decoded(kind)), kind)


def assemble(kind, n):
    """Types that pyarrow makes of parts only."""
    if pa.types.is_run_end_encoded(kind):
        ends = [min(3 * i + 3, n) for i in range((n + 2) // 3)]
        parts = pa.array(ends, kind.run_end_type), assemble(kind.value_type, len(ends))
        return pa.RunEndEncodedArray.from_arrays(*parts)
    if pa.types.is_union(kind):
        return assemble_union(kind, n)
    if pa.types.is_list_view(kind):
        child = assemble(kind.value_type, 2 * n)
        starts = pa.array([2 * i if i % 3 != 2 else None for i in reversed(range(n))], pa.int32())
        return pa.ListViewArray.from_arrays(starts, pa.array([i % 3 for i in range(n)]), child)
    if pa.types.is_list(kind):
        offsets = pa.array([2 * i if i % 3 != 2 else None for i in range(n)] + [2 * n], pa.int32())
        return pa.ListArray.from_arrays(offsets, assemble(kind.value_type, 2 * n))
    if pa.types.is_struct(kind):
        return pa.StructArray.from_arrays([assemble(f.type, n) for f in kind], fields=list(kind))
    return array(kind, n)


def assemble_union(kind, n):
    ids = [kind.type_codes[i % 4 == 0] for i in range(n)]
    names = [field.name for field in kind]
    codes = pa.array(ids, pa.int8())
    if kind.mode == "sparse":
        children = [array(field.type, n) for field in kind]
        return pa.UnionArray.from_sparse(codes, children, names, kind.type_codes)
    offsets = pa.array([ids[:i].count(code) for i, code in enumerate(ids)], pa.int32())
    children = [array(f.type, ids.count(code)) for f, code in zip(kind, kind.type_codes)]
    return pa.UnionArray.from_dense(codes, offsets, children, names, kind.type_codes)


def encode(plain, kind):
    """A plain array as one with dictionaries where kind has them."""
    if plain.type == kind:
        return plain
    if pa.types.is_dictionary(kind):
        return plain.dictionary_encode().cast(kind)
    if pa.types.is_struct(kind):
        children = [encode(plain.field(i), f.type) for i, f in enumerate(kind)]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=plain.is_null())
    assert pa.types.is_list(kind), kind
    return pa.ListArray.from_arrays(
        plain.offsets, encode(plain.values, kind.value_type), type=kind, mask=plain.is_null()
    )


def leaf_types():
    ints = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
    stamps = [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")]
    spans = [pa.duration(unit) for unit in ("s", "ms", "us", "ns")]
    decimals = [pa.decimal128(38, 10), pa.decimal128(7, -2), pa.decimal256(76, 3)]
    if hasattr(pa, "decimal32"):
        decimals += [pa.decimal32(9, 2), pa.decimal64(18, 4)]
    return [
        *ints, *stamps, *spans, *decimals,
        pa.null(), pa.bool_(), pa.float32(), pa.float64(), pa.string(), pa.large_string(),
        pa.binary(), pa.large_binary(), pa.binary(5), pa.date32(), pa.date64(), pa.time32("s"),
        pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("us", "UTC"),
        pa.timestamp("ns", "Europe/Berlin"), pa.month_day_nano_interval(),
    ]  # fmt: skip


def nested_types():
    inner = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.list_(pa.string()))])
    return [
        pa.list_(pa.int16()), pa.large_list(pa.string()), pa.list_(pa.bool_(), 3),
        pa.list_(pa.list_(pa.decimal128(20, 2))), inner, pa.list_(inner), pa.list_(inner, 2),
        pa.map_(pa.string(), pa.int64()), pa.map_(pa.string(), inner),
        pa.struct([pa.field("m", pa.map_(pa.string(), pa.null())), pa.field("e", pa.struct([]))]),
    ]  # fmt: skip


def dictionary_types():
    words = pa.dictionary(pa.int8(), pa.string())
    return [
        words, pa.dictionary(pa.int32(), pa.large_string()), pa.dictionary(pa.uint16(), pa.int64()),
        pa.dictionary(pa.int64(), pa.decimal128(12, 3)), pa.list_(words),
        pa.struct([pa.field("d", words), pa.field("i", pa.int8())]),
    ]  # fmt: skip


def union_types():
    members = [pa.field("number", pa.int32()), pa.field("text", pa.string())]
    return [pa.sparse_union(members, [5, 7]), pa.dense_union(members, [5, 7])]


def newer_types():
    """Types of the families that came to Arrow later."""
    runs = pa.run_end_encoded(pa.int16(), pa.string())
    sparse, dense = union_types()
    words = pa.dictionary(pa.int8(), pa.string())
    coded = pa.sparse_union([pa.field("d", words), pa.field("n", pa.null())])
    return [
        pa.string_view(), pa.binary_view(), pa.list_(pa.string_view()),
        pa.dictionary(pa.int8(), pa.string_view()), pa.list_view(pa.int16()),
        pa.large_list_view(pa.string()), pa.list_view(pa.struct([pa.field("v", pa.binary_view())])),
        sparse, dense, pa.list_(sparse), pa.list_(dense), pa.struct([pa.field("u", dense)]),
        runs, pa.run_end_encoded(pa.int32(), pa.int64()), pa.run_end_encoded(pa.int64(), sparse),
        coded, pa.list_view(words), pa.run_end_encoded(pa.int32(), words),
    ]  # fmt: skip


def table_of(types, n):
    """A table with a row number and one column a type, which has nulls in each third row."""
    columns = {"id": pa.array(range(n), pa.int64())}
    for i, kind in enumerate(types):
        columns[f"c{i}"] = array(kind, n)
    return pa.table(columns)


def all_types():
    return leaf_types() + nested_types() + dictionary_types()


# ---- Comparing ----------------------------------------------------------------------------------


def expect_equal(got, want, what):
    """The same rows and plain types, dictionaries decoded on both sides."""
    assert got.column_names == want.column_names, f"{what}: {got.column_names}"
    assert got.num_rows == want.num_rows, f"{what}: {got.num_rows} rows, not {want.num_rows}"
    for name in want.column_names:
        a, b = got.column(name), want.column(name)
        assert decoded(a.type) == decoded(b.type), f"{what}: {name}: {a.type}, not {b.type}"
        if a.type == b.type and a.equals(b):
            continue
        for row, (x, y) in enumerate(zip(a.to_pylist(), b.to_pylist())):
            assert repr(x) == repr(y), f"{what}: {name}: row {row}: {x!r}, not {y!r}"


def main(module):
    """Runs the functions test_* of a module, each in a folder of its own."""
    failed = False
    home = os.getcwd()
    for name, function in list(vars(module).items()):
        if not name.startswith("test_") or name == "test_data":
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function()
                print(f"ok   {name}")
            except AssertionError as error:
                failed = True
                print(f"FAIL {name}: {error}")
            finally:
                os.chdir(home)
    sys.exit(1 if failed else 0)
