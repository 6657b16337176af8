"""A second reader of shuffle blocks, which knows nothing of the first: header, codec and
"offsets as lengths" are undone here, the Arrow stream inside is left to pyarrow."""

import struct

import cramjam
import lz4.frame
import pyarrow as pa
import zstandard

HEADER = struct.Struct("<QQ4s")


def undo_codec(tag, payload):
    if tag == b"NONE":
        return payload
    if tag == b"LZ4_":
        return lz4.frame.decompress(payload)
    if tag == b"ZSTD":
        return zstandard.ZstdDecompressor().decompressobj().decompress(payload)
    assert tag == b"SNAP", tag
    return bytes(cramjam.snappy.decompress(payload))


# ---- The buffer list of a record batch -----------------------------------------------------------


class Table:
    """A FlatBuffers table."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]

    def slot(self, number):
        """The position of a slot's value, or None."""
        place = 4 + 2 * number
        if place >= struct.unpack_from("<H", self.data, self.vtable)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, self.vtable + place)[0]
        return self.at + offset if offset else None

    def follow(self, number):
        at = self.slot(number)
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, number):
        return Table(self.data, self.follow(number))


def buffers_of(metadata):
    """(offset, length) of the buffers of a record batch message."""
    root = Table(metadata, struct.unpack_from("<I", metadata)[0])
    at = root.table(2).follow(2)
    (count,) = struct.unpack_from("<I", metadata, at)
    return [struct.unpack_from("<qq", metadata, at + 4 + 16 * i) for i in range(count)]


def widths(kind):
    """The width of an offset, or 0, for each buffer of a type, children included."""
    if pa.types.is_null(kind):
        return []
    if pa.types.is_struct(kind):
        return [0] + [w for f in kind for w in widths(f.type)]
    if pa.types.is_fixed_size_list(kind):
        return [0] + widths(kind.value_type)
    if pa.types.is_map(kind):
        return [0, 4, 0] + widths(kind.key_type) + widths(kind.item_type)
    if pa.types.is_list(kind):
        return [0, 4] + widths(kind.value_type)
    if pa.types.is_large_list(kind):
        return [0, 8] + widths(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return [0, 4, 0]
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return [0, 8, 0]
    return [0, 0]


def offsets_from_planes(planes, width):
    n = len(planes) // width
    total, out = 0, bytearray()
    for i in range(n):
        step = int.from_bytes(bytes(planes[i + k * n] for k in range(width)), "little", signed=True)
        assert step >= 0
        total += step
        out += total.to_bytes(width, "little")
    return bytes(out)


def messages(stream):
    """(place of the metadata, its size, place of the body) of each message up to the end mark."""
    at = 0
    while True:
        mark, size = struct.unpack_from("<Ii", stream, at)
        assert mark == 0xFFFFFFFF
        if size == 0:
            assert at + 8 == len(stream), "bytes behind the end mark"
            return
        root = Table(stream[at + 8 : at + 8 + size], struct.unpack_from("<I", stream, at + 8)[0])
        length = root.slot(3)
        body = struct.unpack_from("<q", root.data, length)[0] if length is not None else 0
        yield at + 8, size, at + 8 + size
        at += 8 + size + body


def undo_lengths(stream):
    found = list(messages(stream))
    assert len(found) == 2, "a schema and a record batch"
    schema = pa.ipc.read_schema(pa.py_buffer(stream))
    kinds = [w for field in schema for w in widths(field.type)]
    start, size, body = found[1]
    places = buffers_of(stream[start : start + size])
    assert len(places) == len(kinds), f"{len(places)} buffers, not {len(kinds)}"
    out = bytearray(stream)
    for width, (offset, length) in zip(kinds, places):
        if width:
            planes = stream[body + offset : body + offset + length]
            out[body + offset : body + offset + length] = offsets_from_planes(planes, width)
    return bytes(out)


# ---- Blocks and map outputs ----------------------------------------------------------------------


def frames(data):
    """(tag without its flag, flag, number of columns, plain stream) of each block."""
    at = 0
    while at < len(data):
        length, columns, tag = HEADER.unpack_from(data, at)
        payload = data[at + HEADER.size : at + 8 + length]
        assert len(payload) == length - 12, "the last block is cut"
        flag = bool(tag[0] & 0x80)
        tag = bytes([tag[0] & 0x7F]) + tag[1:]
        stream = undo_codec(tag, payload)
        yield tag, flag, columns, undo_lengths(stream) if flag else stream
        at += 8 + length


def streams(data):
    """The plain Arrow stream of each block."""
    return [stream for _, _, _, stream in frames(data)]


def blocks(data):
    """(tag without its flag, flag, record batch) of each block."""
    for tag, flag, columns, stream in frames(data):
        with pa.ipc.open_stream(stream) as reader:
            (batch,) = list(reader)
        batch.validate(full=True)
        assert batch.num_columns == columns
        assert batch.num_rows > 0
        yield tag, flag, batch


def partitions(data, index):
    """The bytes of each partition."""
    offsets = [o for (o,) in struct.iter_unpack(">q", index)]
    assert offsets[0] == 0 and offsets[-1] == len(data) and offsets == sorted(offsets)
    return [data[a:b] for a, b in zip(offsets, offsets[1:])]
