// Reads Arrow streams with the apache-arrow package and prints their values, a line a file:
//
//   node read.mjs FILE...      {"rows": 3, "columns": [[...], ...]} or {"unread": "why"}
//
// Values are as ipc_values.py has them, except that integers are strings.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { IntervalUnit, Precision, tableFromIPC, Type, UnionMode, Vector } = require("apache-arrow");

const hex = (bytes) => "x:" + Buffer.from(bytes).toString("hex");

function float(value) {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? value : value > 0 ? "Infinity" : "-Infinity";
}

/** The entry of a typed array of 32-bit words that holds whole values of `words` words. */
function wide(values, i, words) {
  let bits = 0n;
  for (let k = words - 1; k >= 0; k--) bits = (bits << 32n) | BigInt(values[i * words + k] >>> 0);
  return BigInt.asIntN(32 * words, bits);
}

function decimal(data, i) {
  const words = data.type.bitWidth / 32;
  return { unscaled: String(wide(data.values, i, words)), scale: data.type.scale };
}

function interval(data, i) {
  const parts = data.values;
  switch (data.type.unit) {
    case IntervalUnit.YEAR_MONTH:
      return [String(parts[i]), "0", "0"];
    case IntervalUnit.DAY_TIME:
      return ["0", String(parts[2 * i]), String(BigInt(parts[2 * i + 1]) * 1000000n)];
    default: {
      const nanos = wide(parts.subarray(4 * i + 2, 4 * i + 4), 0, 2);
      return [String(parts[4 * i]), String(parts[4 * i + 1]), String(nanos)];
    }
  }
}

function range(child, from, to) {
  return child.slice(Number(from), Number(to));
}

function unionRows(data) {
  const children = data.children.map(rows);
  const dense = data.type.mode === UnionMode.Dense;
  return Array.from({ length: data.length }, (_, i) => {
    const id = data.typeIds[i];
    const child = children[data.type.typeIdToChildIndex[id]];
    return [String(id), child[dense ? data.valueOffsets[i] : i]];
  });
}

/** What makes the value of a row that is not null. */
function maker(data) {
  const { type } = data;
  const vector = new Vector([data]);
  switch (type.typeId) {
    case Type.Bool:
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return (i) => vector.get(i);
    case Type.Float:
      return type.precision === Precision.SINGLE
        ? (i) => float(data.values[i])
        : (i) => float(vector.get(i));
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return (i) => hex(vector.get(i));
    case Type.Decimal:
      return (i) => decimal(data, i);
    case Type.Interval:
      return (i) => interval(data, i);
    case Type.List:
    case Type.LargeList:
    case Type.Map: {
      const child = rows(data.children[0]);
      return (i) => range(child, data.valueOffsets[i], data.valueOffsets[i + 1]);
    }
    case Type.FixedSizeList: {
      const child = rows(data.children[0]);
      return (i) => range(child, i * type.listSize, (i + 1) * type.listSize);
    }
    case Type.Struct: {
      const children = data.children.map(rows);
      return (i) => children.map((child) => child[i]);
    }
    case Type.Dictionary: {
      const values = data.dictionary.data.flatMap(rows);
      return (i) => values[Number(data.values[i])];
    }
    default: // integers, and what is stored as them
      return (i) => String(data.values[i]);
  }
}

function rows(data) {
  if (data.type.typeId === Type.Null) return Array(data.length).fill(null);
  if (data.type.typeId === Type.Union) return unionRows(data);
  const value = maker(data);
  return Array.from({ length: data.length }, (_, i) => (data.getValid(i) ? value(i) : null));
}

function read(path) {
  const table = tableFromIPC(readFileSync(path));
  const columns = table.schema.fields.map((_, k) =>
    table.batches.flatMap((batch) => rows(batch.data.children[k])),
  );
  return { rows: table.numRows, columns };
}

for (const path of process.argv.slice(2)) {
  let found;
  try {
    found = read(path);
  } catch (error) {
    found = { unread: String(error.message) };
  }
  console.log(JSON.stringify(found));
}
