#include "ipc/metadata_int.h"

/* From members of the Type union of Schema.fbs to enum arrow_type and its parameters. */

static ashuf_status int_type(struct schema_reader *reader, size_t at, int32_t width, bool is_signed,
                             uint8_t *out) {
  int first = is_signed ? TYPE_INT8 : TYPE_UINT8;
  switch (width) {
    case 8:
      *out = (uint8_t)first;
      return ASHUF_OK;
    case 16:
      *out = (uint8_t)(first + 1);
      return ASHUF_OK;
    case 32:
      *out = (uint8_t)(first + 2);
      return ASHUF_OK;
    case 64:
      *out = (uint8_t)(first + 3);
      return ASHUF_OK;
    default:
      return schema_read_bad(reader, SITE_IPC_INT_WIDTH, at, "no integers of this bit width",
                             width);
  }
}

static ashuf_status read_int(struct schema_reader *reader, const struct flatbuf_table *table,
                             struct field *field) {
  int32_t width;
  bool is_signed;
  if (!flatbuf_i32(&reader->flatbuf, table, INT_WIDTH, 0, &width) ||
      !flatbuf_bool(&reader->flatbuf, table, INT_SIGNED, &is_signed))
    return ASHUF_BAD_METADATA;
  return int_type(reader, table->at, width, is_signed, &field->type);
}

/* One of three types in a row, chosen by an i16 in 0..last. */
static ashuf_status read_choice(struct schema_reader *reader, const struct flatbuf_table *table,
                                int16_t fallback, int16_t last, int first_type, int site,
                                struct field *field) {
  int16_t choice;
  if (!flatbuf_i16(&reader->flatbuf, table, ONLY_SLOT, fallback, &choice))
    return ASHUF_BAD_METADATA;
  if (choice < 0 || choice > last)
    return schema_read_bad(reader, site, table->at, "unknown precision or unit", choice);
  field->type = (uint8_t)(first_type + choice);
  return ASHUF_OK;
}

static ashuf_status read_decimal(struct schema_reader *reader, const struct flatbuf_table *table,
                                 struct field *field) {
  int32_t width;
  if (!flatbuf_i32(&reader->flatbuf, table, DECIMAL_PRECISION, 0, &field->precision) ||
      !flatbuf_i32(&reader->flatbuf, table, DECIMAL_SCALE, 0, &field->scale) ||
      !flatbuf_i32(&reader->flatbuf, table, DECIMAL_WIDTH, DEFAULT_DECIMAL_WIDTH, &width))
    return ASHUF_BAD_METADATA;
  switch (width) {
    case 32:
      field->type = TYPE_DECIMAL32;
      return ASHUF_OK;
    case 64:
      field->type = TYPE_DECIMAL64;
      return ASHUF_OK;
    case 128:
      field->type = TYPE_DECIMAL128;
      return ASHUF_OK;
    case 256:
      field->type = TYPE_DECIMAL256;
      return ASHUF_OK;
    default:
      return schema_read_bad(reader, SITE_IPC_DECIMAL_WIDTH, table->at,
                             "no decimals of this bit width", width);
  }
}

static ashuf_status read_unit(struct schema_reader *reader, const struct flatbuf_table *table,
                              int16_t fallback, struct field *field) {
  int16_t unit;
  if (!flatbuf_i16(&reader->flatbuf, table, TIME_UNIT, fallback, &unit)) return ASHUF_BAD_METADATA;
  if (unit < UNIT_SECOND || unit > UNIT_NANO)
    return schema_read_bad(reader, SITE_IPC_UNIT, table->at, "unknown time unit", unit);
  field->unit = (uint8_t)unit;
  return ASHUF_OK;
}

static ashuf_status read_time(struct schema_reader *reader, const struct flatbuf_table *table,
                              struct field *field) {
  int32_t width;
  if (!flatbuf_i32(&reader->flatbuf, table, TIME_WIDTH, DEFAULT_TIME_WIDTH, &width))
    return ASHUF_BAD_METADATA;
  ashuf_status status = read_unit(reader, table, DEFAULT_UNIT, field);
  if (status != ASHUF_OK) return status;
  bool is_fine = field->unit >= UNIT_MICRO;
  if (width != (is_fine ? 64 : 32))
    return schema_read_bad(reader, SITE_IPC_TIME, table->at,
                           "bit width of a time does not go with its unit", width);
  field->type = is_fine ? TYPE_TIME64 : TYPE_TIME32;
  return ASHUF_OK;
}

static ashuf_status read_timestamp(struct schema_reader *reader, const struct flatbuf_table *table,
                                   struct field *field) {
  struct flatbuf_text zone;
  if (!flatbuf_text(&reader->flatbuf, table, TIMESTAMP_TIMEZONE, &zone)) return ASHUF_BAD_METADATA;
  if (zone.size != 0 && memchr(zone.data, 0, zone.size) != NULL)
    return schema_read_bad(reader, SITE_IPC_TIME, table->at, "a time zone with a NUL inside",
                           (int64_t)zone.size);
  if (zone.size != 0) {
    field->timezone = arena_text(&reader->schema->arena, zone.data, zone.size);
    if (field->timezone == NULL) return schema_read_memory(reader, zone.size);
  }
  field->type = TYPE_TIMESTAMP;
  return read_unit(reader, table, UNIT_SECOND, field);
}

static ashuf_status read_duration(struct schema_reader *reader, const struct flatbuf_table *table,
                                  struct field *field) {
  field->type = TYPE_DURATION;
  return read_unit(reader, table, DEFAULT_UNIT, field);
}

static ashuf_status read_sized(struct schema_reader *reader, const struct flatbuf_table *table,
                               enum arrow_type type, int32_t *size, struct field *field) {
  field->type = (uint8_t)type;
  return flatbuf_i32(&reader->flatbuf, table, ONLY_SLOT, 0, size) ? ASHUF_OK : ASHUF_BAD_METADATA;
}

static ashuf_status read_map(struct schema_reader *reader, const struct flatbuf_table *table,
                             struct field *field) {
  field->type = TYPE_MAP;
  return flatbuf_bool(&reader->flatbuf, table, ONLY_SLOT, &field->keys_sorted) ? ASHUF_OK
                                                                               : ASHUF_BAD_METADATA;
}

/* The type ids of a union of field->n_children; those that are not listed count from 0. */
static ashuf_status read_type_ids(struct schema_reader *reader, const struct flatbuf_vector *ids,
                                  size_t at, struct field *field) {
  int32_t n = field->n_children;
  if (n > INT8_MAX + 1)
    return schema_read_bad(reader, SITE_IPC_UNION_IDS, at, "too many members in a union", n);
  if (ids->data != NULL && ids->count != (uint32_t)n)
    return schema_read_bad(reader, SITE_IPC_UNION_IDS, at,
                           "number of type ids differs from that of the members", ids->count);
  int8_t *own = arena_alloc(&reader->schema->arena, (size_t)n, 1);
  if (own == NULL) return schema_read_memory(reader, (size_t)n);
  for (int32_t i = 0; i < n; i++) {
    int32_t id = ids->data == NULL ? i : load_i32(ids->data + 4 * i);
    if (id < 0 || id > INT8_MAX)
      return schema_read_bad(reader, SITE_IPC_UNION_IDS, at, "type id of a union out of range", id);
    own[i] = (int8_t)id;
  }
  field->type_ids = own;
  return ASHUF_OK;
}

static ashuf_status read_union(struct schema_reader *reader, const struct flatbuf_table *table,
                               struct field *field) {
  int16_t mode;
  struct flatbuf_vector ids;
  if (!flatbuf_i16(&reader->flatbuf, table, UNION_MODE, 0, &mode) ||
      !flatbuf_vector(&reader->flatbuf, table, UNION_IDS, 4, 4, &ids))
    return ASHUF_BAD_METADATA;
  if (mode < 0 || mode > 1)
    return schema_read_bad(reader, SITE_IPC_UNION_MODE, table->at, "unknown union mode", mode);
  field->type = mode == 0 ? TYPE_SPARSE_UNION : TYPE_DENSE_UNION;
  return read_type_ids(reader, &ids, table->at, field);
}

/* The types without parameters. */
static const uint8_t plain_types[IPC_LARGE_LIST_VIEW + 1] = {
    [IPC_NULL] = TYPE_NULL,
    [IPC_BINARY] = TYPE_BINARY,
    [IPC_UTF8] = TYPE_UTF8,
    [IPC_BOOL] = TYPE_BOOL,
    [IPC_LIST] = TYPE_LIST,
    [IPC_STRUCT] = TYPE_STRUCT,
    [IPC_LARGE_BINARY] = TYPE_LARGE_BINARY,
    [IPC_LARGE_UTF8] = TYPE_LARGE_UTF8,
    [IPC_LARGE_LIST] = TYPE_LARGE_LIST,
    [IPC_RUN_END_ENCODED] = TYPE_RUN_END_ENCODED,
    [IPC_BINARY_VIEW] = TYPE_BINARY_VIEW,
    [IPC_UTF8_VIEW] = TYPE_UTF8_VIEW,
    [IPC_LIST_VIEW] = TYPE_LIST_VIEW,
    [IPC_LARGE_LIST_VIEW] = TYPE_LARGE_LIST_VIEW,
};

ashuf_status schema_read_type(struct schema_reader *reader, uint8_t ipc_type,
                              const struct flatbuf_table *table, struct field *field) {
  switch (ipc_type) {
    case IPC_INT:
      return read_int(reader, table, field);
    case IPC_FLOATING_POINT:
      return read_choice(reader, table, 0, 2, TYPE_FLOAT16, SITE_IPC_FLOAT, field);
    case IPC_DECIMAL:
      return read_decimal(reader, table, field);
    case IPC_DATE:
      return read_choice(reader, table, DEFAULT_DATE_UNIT, 1, TYPE_DATE32, SITE_IPC_DATE_UNIT,
                         field);
    case IPC_TIME:
      return read_time(reader, table, field);
    case IPC_TIMESTAMP:
      return read_timestamp(reader, table, field);
    case IPC_INTERVAL:
      return read_choice(reader, table, 0, 2, TYPE_INTERVAL_MONTHS, SITE_IPC_INTERVAL, field);
    case IPC_UNION:
      return read_union(reader, table, field);
    case IPC_FIXED_SIZE_BINARY:
      return read_sized(reader, table, TYPE_FIXED_SIZE_BINARY, &field->byte_width, field);
    case IPC_FIXED_SIZE_LIST:
      return read_sized(reader, table, TYPE_FIXED_SIZE_LIST, &field->list_size, field);
    case IPC_MAP:
      return read_map(reader, table, field);
    case IPC_DURATION:
      return read_duration(reader, table, field);
    default:
      field->type = plain_types[ipc_type];
      return ASHUF_OK;
  }
}
