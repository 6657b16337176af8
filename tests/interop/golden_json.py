"""Arrow's integration JSON, as the values and types that ipc_values makes of streams."""

import gzip
import json
import struct

from ipc_values import Field, Stream, as_bytes, as_decimal, as_float


def read_field(source):
    kind = dict(source["type"])
    if kind["name"] == "decimal":
        kind.setdefault("bitWidth", 128)
    if kind["name"] == "timestamp" and not kind.get("timezone"):
        kind.pop("timezone", None)
    children = [read_field(child) for child in source.get("children", ())]
    dictionary = None
    if source.get("dictionary"):
        index = Field("", True, source["dictionary"]["indexType"], [])
        dictionary = (source["dictionary"]["id"], index)
    metadata = read_metadata(source)
    return Field(source["name"], source["nullable"], kind, children, dictionary, metadata)


def read_metadata(source):
    return {pair["key"]: pair["value"] for pair in source.get("metadata") or ()}


def value_of(field, value):
    """A value of a type that has one entry of DATA a row."""
    kind, parameters = field.kind, field.parameters
    if kind == "bool":
        return bool(value)
    if kind in ("int", "date", "time", "timestamp", "duration"):
        return int(value)
    if kind == "decimal":
        return as_decimal(int(value), parameters["scale"])
    if kind == "floatingpoint":
        form = {"HALF": "<e", "SINGLE": "<f", "DOUBLE": "<d"}[parameters["precision"]]
        return as_float(struct.unpack(form, struct.pack(form, value))[0])
    if kind in ("binary", "largebinary", "fixedsizebinary"):
        return as_bytes(bytes.fromhex(value))
    if kind == "interval":
        return interval(parameters["unit"], value)
    assert kind in ("utf8", "largeutf8"), kind
    return value


def interval(unit, value):
    if unit == "YEAR_MONTH":
        return [value, 0, 0]
    if unit == "DAY_TIME":
        return [0, value["days"], value["milliseconds"] * 10**6]
    return [value["months"], value["days"], value["nanoseconds"]]


def view_of(field, view, buffers):
    text = field.kind == "utf8view"
    if view["SIZE"] <= 12:
        return view["INLINED"] if text else as_bytes(bytes.fromhex(view["INLINED"]))
    data = buffers[view["BUFFER_INDEX"]][view["OFFSET"] :][: view["SIZE"]]
    return data.decode() if text else as_bytes(data)


def values(field, column, dictionaries):
    """Values by row, for a type with nulls of its own; those of null rows are left as found."""
    n, kind = column["count"], field.kind
    children = [
        rows(child, part, dictionaries)
        for child, part in zip(field.children, column.get("children", ()))
    ]
    if kind in ("utf8view", "binaryview"):
        buffers = [bytes.fromhex(data) for data in column["VARIADIC_DATA_BUFFERS"]]
        return [view_of(field, view, buffers) for view in column["VIEWS"]]
    if kind == "struct":
        return [[child[i] for child in children] for i in range(n)]
    if kind == "fixedsizelist":
        size = field.parameters["listSize"]
        return [children[0][i * size : (i + 1) * size] for i in range(n)]
    if kind in ("list", "largelist", "map", "listview", "largelistview"):
        begin = [int(offset) for offset in column["OFFSET"]]
        sizes = column.get("SIZE") or [b - a for a, b in zip(begin, begin[1:])]
        return [children[0][a : a + int(size)] for a, size in zip(begin, sizes)]
    return [value_of(field, value) for value in column["DATA"]]


def union_rows(field, column, dictionaries):
    children = [rows(f, c, dictionaries) for f, c in zip(field.children, column["children"])]
    member = dict(zip(field.parameters["typeIds"], children))
    ids = column["TYPE_ID"]
    places = column["OFFSET"] if field.parameters["mode"] == "DENSE" else range(len(ids))
    return [[i, member[i][at]] for i, at in zip(ids, places)]


def rows(field, column, dictionaries):
    """A column's values, None where null."""
    if field.dictionary:
        found = dictionaries[field.dictionary[0]]
        pairs = zip(column["VALIDITY"], column["DATA"])
        return [found[index] if valid else None for valid, index in pairs]
    if field.kind == "null":
        return [None] * column["count"]
    if field.kind == "union":
        return union_rows(field, column, dictionaries)
    found = values(field, column, dictionaries)
    assert len(found) == column["count"] == len(column["VALIDITY"]), column["name"]
    return [value if valid else None for valid, value in zip(column["VALIDITY"], found)]


def value_fields(fields):
    """For each dictionary the field of its values, inner ones first."""
    for field in fields:
        yield from value_fields(field.children)
        if field.dictionary:
            kind = {"name": field.kind, **field.parameters}
            yield field.dictionary[0], Field("", True, kind, field.children)


def read(path):
    """A document as ipc_values.decode would give its stream."""
    with gzip.open(path) as file:
        document = json.load(file)
    fields = [read_field(field) for field in document["schema"]["fields"]]
    stream = Stream(fields, read_metadata(document["schema"]))
    columns = {one["id"]: one["data"]["columns"][0] for one in document.get("dictionaries", ())}
    dictionaries = {}
    for identity, field in value_fields(fields):
        if identity not in dictionaries:
            dictionaries[identity] = rows(field, columns[identity], dictionaries)
    for batch in document["batches"]:
        stream.rows.append(batch["count"])
        pairs = zip(fields, batch["columns"])
        stream.batches.append([rows(field, column, dictionaries) for field, column in pairs])
    return stream
