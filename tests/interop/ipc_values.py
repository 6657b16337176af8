"""A reader of Arrow IPC streams, by hand: values of every type as they lie in the buffers.

It knows what streams of the program and of other writers of today hold: V5, no body compression,
no delta dictionaries. Dates, times, timestamps and durations come as integers, decimals as
strings, bytes as "x:" and hex, a float that is no number as a string, a struct as the list of its
children, a map as a list of pairs, a union as [type id, value], an interval as [months, days,
nanoseconds]; dictionaries and runs are decoded.
"""

import decimal
import math
import struct

from block_reader import Table, messages

TYPES = (
    "none null int floatingpoint binary utf8 bool decimal date time timestamp interval list struct"
    " union fixedsizebinary fixedsizelist map duration largebinary largeutf8 largelist"
    " runendencoded binaryview utf8view listview largelistview"
).split()
UNITS = ("SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")
INTERVALS = ("YEAR_MONTH", "DAY_TIME", "MONTH_DAY_NANO")

# Of each type's table: the name of a parameter, its slot, its format, its default, its names.
PARAMETERS = {
    "int": [("bitWidth", 0, "i", 0, None), ("isSigned", 1, "?", False, None)],
    "floatingpoint": [("precision", 0, "h", 0, ("HALF", "SINGLE", "DOUBLE"))],
    "decimal": [
        ("precision", 0, "i", 0, None),
        ("scale", 1, "i", 0, None),
        ("bitWidth", 2, "i", 128, None),
    ],
    "date": [("unit", 0, "h", 1, ("DAY", "MILLISECOND"))],
    "time": [("unit", 0, "h", 1, UNITS), ("bitWidth", 1, "i", 32, None)],
    "timestamp": [("unit", 0, "h", 0, UNITS)],
    "duration": [("unit", 0, "h", 1, UNITS)],
    "interval": [("unit", 0, "h", 0, INTERVALS)],
    "union": [("mode", 0, "h", 0, ("SPARSE", "DENSE"))],
    "fixedsizebinary": [("byteWidth", 0, "i", 0, None)],
    "fixedsizelist": [("listSize", 0, "i", 0, None)],
    "map": [("keysSorted", 0, "?", False, None)],
}


class Field:
    """A column's type: the name and the parameters that Arrow's integration JSON gives it."""

    def __init__(self, name, nullable, kind, children, dictionary=None, metadata=None):
        self.name, self.nullable, self.children = name, nullable, children
        self.kind = kind["name"]
        self.parameters = {key: value for key, value in kind.items() if key != "name"}
        self.dictionary = dictionary  # (id, field of the indices)
        self.metadata = metadata or {}

    def shape(self):
        """What a reader without dictionaries and runs sees of the type."""
        if self.kind == "runendencoded":
            inner = self.children[1].shape()
            return (self.name, self.nullable or inner[1], *inner[2:])
        children = tuple(child.shape() for child in self.children)
        if self.kind == "map":  # the names inside are not fixed
            children = tuple(shape[1:] for shape in children[0][4])
        parameters = tuple(sorted((k, str(v)) for k, v in self.parameters.items()))
        return self.name, self.nullable, self.kind, parameters, children


class Stream:
    """The columns of a stream, and of each batch its number of rows and its columns' values."""

    def __init__(self, fields, metadata):
        self.fields, self.metadata, self.batches, self.rows = fields, metadata, [], []

    def columns(self):
        """The values of each column, all batches together."""
        return [[v for batch in self.batches for v in batch[i]] for i in range(len(self.fields))]


# ---- Metadata ------------------------------------------------------------------------------------


def scalar(table, slot, form, default):
    at = table.slot(slot)
    return default if at is None else struct.unpack_from("<" + form, table.data, at)[0]


def text(table, slot):
    at = table.follow(slot)
    if at is None:
        return ""
    (size,) = struct.unpack_from("<I", table.data, at)
    return table.data[at + 4 : at + 4 + size].decode()


def vector(table, slot, form):
    at = table.follow(slot)
    if at is None:
        return []
    (count,) = struct.unpack_from("<I", table.data, at)
    size = struct.calcsize("<" + form)
    return [struct.unpack_from("<" + form, table.data, at + 4 + size * i) for i in range(count)]


def tables(table, slot):
    start = table.follow(slot)
    offsets = vector(table, slot, "I")
    return [Table(table.data, start + 4 + 4 * i + o) for i, (o,) in enumerate(offsets)]


def read_kind(name, table):
    kind = {"name": name}
    for key, slot, form, default, names in PARAMETERS.get(name, ()):
        value = scalar(table, slot, form, default)
        kind[key] = names[value] if names else value
    if name == "timestamp" and text(table, 1):
        kind["timezone"] = text(table, 1)
    if name == "union":
        kind["typeIds"] = [i for (i,) in vector(table, 1, "i")]
    return kind


def read_metadata(table, slot):
    return {text(pair, 0): text(pair, 1) for pair in tables(table, slot)}


def read_field(table):
    dictionary = None
    if table.slot(4) is not None:
        encoding = table.table(4)
        index = Field("", True, read_kind("int", encoding.table(1)), [])
        dictionary = (scalar(encoding, 0, "q", 0), index)
    kind = read_kind(TYPES[scalar(table, 2, "B", 0)], table.table(3))
    children = [read_field(child) for child in tables(table, 5)]
    nullable = scalar(table, 1, "?", False)
    return Field(text(table, 0), nullable, kind, children, dictionary, read_metadata(table, 6))


# ---- Values --------------------------------------------------------------------------------------


def as_decimal(unscaled, scale):
    with decimal.localcontext(decimal.Context(prec=100)):
        return str(decimal.Decimal(unscaled).scaleb(-scale))


def as_float(value):
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def as_bytes(value):
    return "x:" + value.hex()


def as_text(value):
    return value.decode("utf-8", "surrogateescape")


def value_maker(field):
    """The width of a value of a type of fixed width, and what makes a value of its bytes."""
    kind, parameters = field.kind, field.parameters
    number = lambda size, signed=True: (  # noqa: E731
        size,
        lambda data: int.from_bytes(data, "little", signed=signed),
    )
    if kind == "int":
        return number(parameters["bitWidth"] // 8, parameters["isSigned"])
    if kind == "time":
        return number(parameters["bitWidth"] // 8)
    if kind in ("timestamp", "duration"):
        return number(8)
    if kind == "date":
        return number(4 if parameters["unit"] == "DAY" else 8)
    if kind == "floatingpoint":
        form = "<" + {"HALF": "e", "SINGLE": "f", "DOUBLE": "d"}[parameters["precision"]]
        return struct.calcsize(form), lambda data: as_float(struct.unpack(form, data)[0])
    if kind == "decimal":
        size, whole = number(parameters["bitWidth"] // 8)
        return size, lambda data: as_decimal(whole(data), parameters["scale"])
    if kind == "interval":
        form = {"YEAR_MONTH": "<i", "DAY_TIME": "<ii", "MONTH_DAY_NANO": "<iiq"}[parameters["unit"]]
        return struct.calcsize(form), lambda data: as_interval(struct.unpack(form, data))
    assert kind == "fixedsizebinary", kind
    return parameters["byteWidth"], as_bytes


def as_interval(parts):
    if len(parts) == 1:
        return [parts[0], 0, 0]
    return [0, parts[0], parts[1] * 10**6] if len(parts) == 2 else list(parts)


def bits(data, n):
    return [bool(data[i // 8] >> i % 8 & 1) for i in range(n)]


def starts(data, n, width):
    """n + 1 offsets; none at all stand for zeros."""
    return ints(data, n + 1, width) if data else [0] * (n + 1)


def ints(data, n, width):
    return list(struct.unpack_from(f"<{n}{'i' if width == 4 else 'q'}", data))


class Batch:
    """The nodes, buffers and counts of a record batch, in the order of the columns."""

    def __init__(self, table, body, dictionaries):
        self.rows = scalar(table, 0, "q", 0)
        self.nodes = iter(vector(table, 1, "qq"))
        self.places = iter(vector(table, 2, "qq"))
        self.counts = iter(vector(table, 4, "q"))
        assert table.slot(3) is None, "compressed"
        self.body, self.dictionaries = body, dictionaries

    def buffer(self):
        offset, length = next(self.places)
        assert offset >= 0 and length >= 0 and offset + length <= len(self.body)
        return self.body[offset : offset + length]

    def column(self, field):
        n, nulls = next(self.nodes)
        if field.dictionary:
            return self.looked_up(field, n, nulls)
        if field.kind == "null":
            return [None] * n
        if field.kind == "union":
            return self.union(field, n)
        if field.kind == "runendencoded":
            return self.runs(field, n)
        validity = self.buffer()
        values = list(self.values(field, n))
        return self.with_nulls(values, validity, n, nulls)

    @staticmethod
    def with_nulls(values, validity, n, nulls):
        if nulls == 0:
            return values[:n]
        valid = bits(validity, n)
        assert valid.count(False) == nulls, f"{valid.count(False)} nulls, not {nulls}"
        return [v if ok else None for v, ok in zip(values, valid)]

    def looked_up(self, field, n, nulls):
        identity, index = field.dictionary
        validity = self.buffer()
        indices = self.with_nulls(list(self.fixed(index, n)), validity, n, nulls)
        return [None if i is None else self.dictionaries[identity][i] for i in indices]

    def values(self, field, n):
        """Values by row; those of null rows are whatever they are."""
        kind = field.kind
        if kind == "bool":
            return bits(self.buffer(), n)
        if kind in ("utf8", "binary", "largeutf8", "largebinary"):
            return self.strings(kind, n)
        if kind in ("utf8view", "binaryview"):
            return self.views(kind, n)
        if kind in ("list", "largelist", "map"):
            return self.lists(field, n, 8 if kind == "largelist" else 4)
        if kind in ("listview", "largelistview"):
            return self.list_views(field, n, 8 if kind == "largelistview" else 4)
        if kind == "fixedsizelist":
            size, child = field.parameters["listSize"], self.column(field.children[0])
            return [child[i * size : (i + 1) * size] for i in range(n)]
        if kind == "struct":
            children = [self.column(child) for child in field.children]
            return [[child[i] for child in children] for i in range(n)]
        return self.fixed(field, n)

    def fixed(self, field, n):
        width, make = value_maker(field)
        data = self.buffer()
        return [make(data[i * width : (i + 1) * width]) for i in range(n)]

    def strings(self, kind, n):
        offsets = starts(self.buffer(), n, 8 if kind.startswith("large") else 4)
        data = self.buffer()
        for i in range(n):
            value = data[offsets[i] : offsets[i + 1]]
            yield as_text(value) if "utf8" in kind else as_bytes(value)

    def views(self, kind, n):
        views = self.buffer()
        data = [self.buffer() for _ in range(next(self.counts)[0])]
        for i in range(n):
            size, _, which, start = struct.unpack_from("<i4sii", views, 16 * i)
            inline = views[16 * i + 4 : 16 * i + 16]
            # The view of a null row may point anywhere.
            far = size > 12 and 0 <= which < len(data)
            value = data[which][start:][:size] if far else inline[: max(size, 0)]
            yield as_text(value) if kind == "utf8view" else as_bytes(value)

    def lists(self, field, n, width):
        offsets = starts(self.buffer(), n, width)
        child = self.column(field.children[0])
        return [child[offsets[i] : offsets[i + 1]] for i in range(n)]

    def list_views(self, field, n, width):
        offsets, sizes = ints(self.buffer(), n, width), ints(self.buffer(), n, width)
        child = self.column(field.children[0])
        return [child[offsets[i] : offsets[i] + sizes[i]] for i in range(n)]

    def union(self, field, n):
        ids = struct.unpack(f"<{n}b", self.buffer()[:n])
        dense = field.parameters["mode"] == "DENSE"
        offsets = ints(self.buffer(), n, 4) if dense else range(n)
        children = [self.column(child) for child in field.children]
        member = dict(zip(field.parameters["typeIds"], children))
        return [[i, member[i][at]] for i, at in zip(ids, offsets)]

    def runs(self, field, n):
        ends, values = (self.column(child) for child in field.children)
        out = []
        for end, value in zip(ends, values):
            out += [value] * (min(end, n) - len(out))
        assert len(out) == n, "runs that end too soon"
        return out

    def columns(self, fields):
        out = [self.column(field) for field in fields]
        assert all(len(column) == self.rows for column in out)
        for rest in (self.nodes, self.places, self.counts):
            assert next(rest, None) is None, "more than the columns need"
        return out


# ---- Streams -------------------------------------------------------------------------------------


def fields_by_id(fields):
    """For each dictionary the field of its values."""
    out = {}
    for field in fields:
        out.update(fields_by_id(field.children))
        if field.dictionary:
            kind = {"name": field.kind, **field.parameters}
            out.setdefault(field.dictionary[0], Field("", True, kind, field.children))
    return out


def decode(data):
    stream, dictionaries, by_id = None, {}, {}
    for start, size, body in messages(data):
        metadata = data[start : start + size]
        root = Table(metadata, struct.unpack_from("<I", metadata)[0])
        length = scalar(root, 3, "q", 0)
        kind, header = scalar(root, 1, "B", 0), root.table(2)
        body = data[body : body + length]
        if kind == 1:
            fields = [read_field(table) for table in tables(header, 1)]
            stream, by_id = Stream(fields, read_metadata(header, 2)), fields_by_id(fields)
        elif kind == 2:
            assert not scalar(header, 2, "?", False), "a delta"
            identity = scalar(header, 0, "q", 0)
            batch = Batch(header.table(1), body, dictionaries)
            (dictionaries[identity],) = batch.columns([by_id[identity]])
        else:
            batch = Batch(header, body, dictionaries)
            stream.rows.append(batch.rows)
            stream.batches.append(batch.columns(stream.fields))
    return stream
