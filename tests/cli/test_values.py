"""Every value that cat prints, against pyarrow's reading of the same rows."""

import decimal
import glob
import json
import math
import os
import struct

from cli_support import GOOD, Skip, ashuf, data, expect, main

try:
    import pyarrow as pa
except ImportError:
    pa = None


def need_pyarrow():
    if pa is None:
        raise Skip("no pyarrow")


DECIMALS = decimal.Context(prec=100)
UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def date_text(days):
    """The calendar by walking from year to year of 400-year eras: slow, and unlike the program."""
    era, day = divmod(days + 719162, 146097)  # since 0001-01-01
    year = 1 + 400 * era

    def leap(y):
        return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)

    while day >= 365 + leap(year):
        day -= 365 + leap(year)
        year += 1
    month = 1
    for length in (31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31):
        if day < length:
            break
        day -= length
        month += 1
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day + 1:02}"


def fraction(value, digits):
    return f".{value:0{digits}}" if digits else ""


def clock(value, digits):
    sign = "-" if value < 0 else ""
    seconds, rest = divmod(abs(value), 10**digits)
    hours, rest_seconds = divmod(seconds, 3600)
    text = f"{sign}{hours:02}:{rest_seconds // 60:02}:{rest_seconds % 60:02}"
    return text + fraction(rest, digits)


def timestamp_text(value, digits, zone):
    days, rest = divmod(value, 86400 * 10**digits)
    text = f"{date_text(days)}T{clock(rest, digits)}"
    if zone is None:
        return text
    return text + ("Z" if zone in ("UTC", "Z", "+00:00") else f"Z[{zone}]")


def seconds_text(value, digits):
    seconds, rest = divmod(abs(value), 10**digits)
    return ("-" if value < 0 else "") + str(seconds) + fraction(rest, digits) + "S"


def decimal_text(value, scale):
    unscaled = int(value.scaleb(scale, DECIMALS))
    if scale <= 0:
        return str(unscaled * 10**-scale)
    digits = f"{abs(unscaled):0{scale + 1}}"
    return ("-" if unscaled < 0 else "") + digits[:-scale] + "." + digits[-scale:]


def raw_integer(scalar):
    """The number under a date, time, timestamp or duration."""
    array = pa.repeat(scalar, 1)
    width = scalar.type.bit_width
    return array.view(pa.int32() if width == 32 else pa.int64())[0].as_py()


def is_text(kind):
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def is_list(kind):
    return (
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def temporal(scalar):
    kind = scalar.type
    if pa.types.is_date32(kind):
        return date_text(raw_integer(scalar))
    if pa.types.is_date64(kind):
        days, rest = divmod(raw_integer(scalar), 86400000)
        return date_text(days) if rest == 0 else timestamp_text(raw_integer(scalar), 3, None)
    digits = UNIT_DIGITS[kind.unit]
    if pa.types.is_time(kind):
        return clock(raw_integer(scalar), digits)
    if pa.types.is_duration(kind):
        return "PT" + seconds_text(raw_integer(scalar), digits)
    return timestamp_text(raw_integer(scalar), digits, kind.tz)


def float_value(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def entries(scalar):
    """The list of a map's entries."""
    sides = zip(map_side(scalar, 0), map_side(scalar, 1))
    return [{"key": plain(key), "value": plain(value)} for key, value in sides]


def map_side(scalar, side):
    items = scalar.values  # a struct array
    return [items.field(side)[i] for i in range(len(items))]


def plain(scalar):
    """What a parser of JSON should see for a value."""
    kind = scalar.type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain(scalar.value) if hasattr(scalar, "value") else plain(scalar.as_py())
    if not scalar.is_valid:
        return None
    if pa.types.is_union(kind):
        return plain(scalar.value)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or is_text(kind):
        return scalar.as_py()
    if pa.types.is_floating(kind):
        return float_value(float(scalar.as_py()))
    if pa.types.is_decimal(kind):
        return decimal_text(scalar.as_py(), kind.scale)
    if pa.types.is_map(kind):
        return entries(scalar)
    if is_list(kind):
        return [plain(item) for item in scalar.values]
    if pa.types.is_struct(kind):
        return {kind[i].name: plain(scalar[i]) for i in range(kind.num_fields)}
    if pa.types.is_temporal(kind):
        return temporal_or_interval(scalar)
    return scalar.as_py().hex()


def temporal_or_interval(scalar):
    kind = scalar.type
    if not pa.types.is_interval(kind):
        return temporal(scalar)
    value = scalar.as_py()
    return f"P{value.months}M{value.days}DT" + seconds_text(value.nanoseconds, 9)


def single(value):
    """The bits of the nearest float32, where there is one."""
    return struct.pack("<f", value) if abs(value) < 3.5e38 else value


def same(got, wanted):
    """JSON numbers of single precision are the shortest, so they are compared as singles."""
    if isinstance(wanted, float) and isinstance(got, float):
        return got == wanted or single(got) == single(wanted)
    if isinstance(wanted, list) and isinstance(got, list):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    if isinstance(wanted, dict) and isinstance(got, dict):
        return got.keys() == wanted.keys() and all(same(got[k], wanted[k]) for k in wanted)
    return type(got) is type(wanted) and got == wanted


def rows_of(table):
    columns = []
    for index, name in enumerate(table.column_names):
        column = table.column(index)
        columns.append([(name, plain(value)) for value in column])
    return [dict(row) for row in zip(*columns)]


def printed(path):
    result = expect(ashuf("cat", path, "--format", "jsonl"), GOOD, err="")
    return [json.loads(line) for line in result.out.splitlines()]


def without_months(rows):
    """pyarrow cannot hold a year-month interval: expected.arrows has the months as a number."""
    for row in rows:
        for name, value in row.items():
            if name == "ym" and isinstance(value, str):
                row[name] = int(value[1:-1])
    return rows


def compare(path, expected):
    got = without_months(printed(path))
    wanted = rows_of(expected)
    assert len(got) == len(wanted), f"{path}: {len(got)} rows, wanted {len(wanted)}"
    for g, w in zip(got, wanted):
        assert same(g, w), f"{path}:\n got    {g}\n wanted {w}"


def test_jsonl_of_spark_files_is_what_spark_read():
    need_pyarrow()
    cases = sorted(glob.glob(os.path.join(data("comet"), "*", "expected.arrows")))
    assert cases
    for case in cases:
        table = pa.ipc.open_stream(case).read_all()
        added = [name for name in table.column_names if name.startswith("__")]
        table = table.drop_columns(added)  # where each row was found
        if len(set(table.column_names)) != table.num_columns or table.num_columns == 0:
            continue
        if table.num_rows <= 3000:
            compare(os.path.dirname(case), table)


def test_jsonl_of_ipc_streams_is_what_pyarrow_reads():
    need_pyarrow()
    for path in sorted(glob.glob(os.path.join(data("own_golden"), "*.arrows"))):
        try:
            table = pa.ipc.open_stream(path).read_all()
            wanted = rows_of(table)
        except (pa.ArrowException, NotImplementedError, KeyError, AttributeError) as why:
            print("   not compared:", os.path.basename(path), type(why).__name__, why)
            continue
        if ashuf("cat", path).err.endswith(" is not supported\n"):
            print("   not supported:", os.path.basename(path))
        elif table.num_columns > 0 and len(wanted) > 0:
            compare(path, table)


if __name__ == "__main__":
    main()
