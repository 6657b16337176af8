/*
 * The importer of the C Data Interface: copies a tree of ArrowSchema into fields. Pointers have
 * to be what the interface says they are; everything else is checked: released structs, missing
 * children, formats, metadata lengths, UTF-8, depth. schema_seal checks the parameters.
 */
#include "arrow/schema_int.h"
#include "arrow/validate.h"
#include "base/bytes.h"

#include <string.h>

struct importing {
  ashuf_schema *schema;
  struct ashuf_error *error;
  int32_t n_fields; /* so far: nodes that share children could stand for any number */
};

#define BAD(error, site, ...) error_set(error, ASHUF_BAD_SCHEMA, site, __VA_ARGS__)

/* ---- Texts ------------------------------------------------------------------------------- */

/* A copy in the arena of text that has to be UTF-8. */
static ashuf_status import_text(struct importing *importing, const char *bytes, size_t size,
                                const char *what, const char **out) {
  if (!validate_utf8_bytes((const uint8_t *)bytes, size))
    return BAD(importing->error, SITE_IMPORT_UTF8, "%s is not UTF-8", what);
  *out = arena_text(&importing->schema->arena, bytes, size);
  if (*out == NULL) return schema_no_memory(importing->schema->memory, importing->error);
  return ASHUF_OK;
}

static ashuf_status import_name(struct importing *importing, const char *name,
                                struct field *field) {
  if (name == NULL || name[0] == '\0') return ASHUF_OK;
  size_t size = strlen(name);
  ashuf_status status = import_text(importing, name, size, "the name", &field->name);
  if (status == ASHUF_OK) field->name_size = size;
  return status;
}

/* A length and that many bytes from *at, which moves behind them. */
static ashuf_status import_counted(struct importing *importing, const char **at, const char **out,
                                   int32_t *size) {
  *size = load_i32(*at);
  if (*size < 0)
    return BAD(importing->error, SITE_IMPORT_METADATA, "metadata with a length of %d", *size);
  const char *bytes = *at + sizeof(int32_t);
  *at = bytes + *size;
  return import_text(importing, bytes, (size_t)*size, "metadata", out);
}

static ashuf_status import_metadata(struct importing *importing, const char *blob,
                                    const struct key_value **metadata, int32_t *n_metadata) {
  if (blob == NULL) return ASHUF_OK;
  int32_t n = load_i32(blob);
  if (n < 0) return BAD(importing->error, SITE_IMPORT_METADATA, "metadata with %d pairs", n);
  if (n == 0) return ASHUF_OK;
  struct key_value *pairs = arena_array(&importing->schema->arena, (size_t)n, sizeof *pairs);
  if (pairs == NULL) return schema_no_memory(importing->schema->memory, importing->error);
  const char *at = blob + sizeof(int32_t);
  for (int32_t i = 0; i < n; i++) {
    ashuf_status status = import_counted(importing, &at, &pairs[i].key, &pairs[i].key_size);
    if (status == ASHUF_OK)
      status = import_counted(importing, &at, &pairs[i].value, &pairs[i].value_size);
    if (status != ASHUF_OK) return status;
  }
  *metadata = pairs;
  *n_metadata = n;
  return ASHUF_OK;
}

/* ---- Formats ----------------------------------------------------------------------------- */

enum parameters { NO_PARAMETERS, SIZE, DECIMAL, TIMEZONE, TYPE_IDS };

struct format {
  const char *text; /* all of it, or what stands in front of the parameters */
  uint8_t type;
  uint8_t unit;
  uint8_t parameters;
};

static const struct format formats[] = {
    {"n", TYPE_NULL, 0, 0},
    {"b", TYPE_BOOL, 0, 0},
    {"c", TYPE_INT8, 0, 0},
    {"s", TYPE_INT16, 0, 0},
    {"i", TYPE_INT32, 0, 0},
    {"l", TYPE_INT64, 0, 0},
    {"C", TYPE_UINT8, 0, 0},
    {"S", TYPE_UINT16, 0, 0},
    {"I", TYPE_UINT32, 0, 0},
    {"L", TYPE_UINT64, 0, 0},
    {"e", TYPE_FLOAT16, 0, 0},
    {"f", TYPE_FLOAT32, 0, 0},
    {"g", TYPE_FLOAT64, 0, 0},
    {"z", TYPE_BINARY, 0, 0},
    {"Z", TYPE_LARGE_BINARY, 0, 0},
    {"u", TYPE_UTF8, 0, 0},
    {"U", TYPE_LARGE_UTF8, 0, 0},
    {"vz", TYPE_BINARY_VIEW, 0, 0},
    {"vu", TYPE_UTF8_VIEW, 0, 0},
    {"tdD", TYPE_DATE32, 0, 0},
    {"tdm", TYPE_DATE64, 0, 0},
    {"tts", TYPE_TIME32, UNIT_SECOND, 0},
    {"ttm", TYPE_TIME32, UNIT_MILLI, 0},
    {"ttu", TYPE_TIME64, UNIT_MICRO, 0},
    {"ttn", TYPE_TIME64, UNIT_NANO, 0},
    {"tDs", TYPE_DURATION, UNIT_SECOND, 0},
    {"tDm", TYPE_DURATION, UNIT_MILLI, 0},
    {"tDu", TYPE_DURATION, UNIT_MICRO, 0},
    {"tDn", TYPE_DURATION, UNIT_NANO, 0},
    {"tiM", TYPE_INTERVAL_MONTHS, 0, 0},
    {"tiD", TYPE_INTERVAL_DAY_TIME, 0, 0},
    {"tin", TYPE_INTERVAL_MONTH_DAY_NANO, 0, 0},
    {"+l", TYPE_LIST, 0, 0},
    {"+L", TYPE_LARGE_LIST, 0, 0},
    {"+vl", TYPE_LIST_VIEW, 0, 0},
    {"+vL", TYPE_LARGE_LIST_VIEW, 0, 0},
    {"+s", TYPE_STRUCT, 0, 0},
    {"+m", TYPE_MAP, 0, 0},
    {"+r", TYPE_RUN_END_ENCODED, 0, 0},
    {"w:", TYPE_FIXED_SIZE_BINARY, 0, SIZE},
    {"+w:", TYPE_FIXED_SIZE_LIST, 0, SIZE},
    {"d:", TYPE_DECIMAL128, 0, DECIMAL},
    {"tss:", TYPE_TIMESTAMP, UNIT_SECOND, TIMEZONE},
    {"tsm:", TYPE_TIMESTAMP, UNIT_MILLI, TIMEZONE},
    {"tsu:", TYPE_TIMESTAMP, UNIT_MICRO, TIMEZONE},
    {"tsn:", TYPE_TIMESTAMP, UNIT_NANO, TIMEZONE},
    {"+us:", TYPE_SPARSE_UNION, 0, TYPE_IDS},
    {"+ud:", TYPE_DENSE_UNION, 0, TYPE_IDS},
};

static const struct format *find_format(const char *text) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    const struct format *format = &formats[i];
    if (format->parameters == NO_PARAMETERS
            ? strcmp(text, format->text) == 0
            : strncmp(text, format->text, strlen(format->text)) == 0)
      return format;
  }
  return NULL;
}

/* A decimal number from *at, which moves behind it; false where there is none or it is too big. */
static bool parse_number(const char **at, int32_t *out) {
  const char *digit = *at;
  bool negative = *digit == '-';
  if (negative) digit++;
  if (*digit < '0' || *digit > '9') return false;
  int64_t value = 0;
  for (; *digit >= '0' && *digit <= '9'; digit++) {
    value = value * 10 + (*digit - '0');
    if (value > INT32_MAX) return false;
  }
  *out = (int32_t)(negative ? -value : value);
  *at = digit;
  return true;
}

static bool parse_comma(const char **at) {
  if (**at != ',') return false;
  (*at)++;
  return true;
}

static bool decimal_of_width(int32_t bits, uint8_t *type) {
  switch (bits) {
    case 32:
      *type = TYPE_DECIMAL32;
      return true;
    case 64:
      *type = TYPE_DECIMAL64;
      return true;
    case 128:
      *type = TYPE_DECIMAL128;
      return true;
    case 256:
      *type = TYPE_DECIMAL256;
      return true;
    default:
      return false;
  }
}

static bool parse_decimal(const char *at, struct field *field) {
  int32_t bits = 128;
  if (!parse_number(&at, &field->precision) || !parse_comma(&at)) return false;
  if (!parse_number(&at, &field->scale)) return false;
  if (*at != '\0' && (!parse_comma(&at) || !parse_number(&at, &bits))) return false;
  return *at == '\0' && decimal_of_width(bits, &field->type);
}

static bool parse_type_ids(const char *at, int8_t *ids, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    int32_t id;
    if (i > 0 && !parse_comma(&at)) return false;
    if (!parse_number(&at, &id) || id < 0 || id > INT8_MAX) return false;
    ids[i] = (int8_t)id;
  }
  return *at == '\0';
}

static ashuf_status bad_format(struct importing *importing, const char *format) {
  char label[64];
  return BAD(importing->error, SITE_IMPORT_FORMAT, "bad parameters in format \"%s\"",
             error_escape(label, sizeof label, format, strlen(format)));
}

static ashuf_status import_type_ids(struct importing *importing, const char *format,
                                    struct field *field) {
  if (field->n_children > INT8_MAX + 1)
    return BAD(importing->error, SITE_IMPORT_CHILDREN, "union with %d children", field->n_children);
  int8_t *ids = arena_array(&importing->schema->arena, (size_t)field->n_children, 1);
  if (ids == NULL) return schema_no_memory(importing->schema->memory, importing->error);
  if (!parse_type_ids(format + strlen("+ud:"), ids, field->n_children))
    return bad_format(importing, format);
  field->type_ids = ids;
  return ASHUF_OK;
}

static ashuf_status import_size(struct importing *importing, const char *format,
                                struct field *field) {
  const char *at = strchr(format, ':') + 1;
  bool list = field->type == TYPE_FIXED_SIZE_LIST;
  if (!parse_number(&at, list ? &field->list_size : &field->byte_width) || *at != '\0')
    return bad_format(importing, format);
  return ASHUF_OK;
}

static ashuf_status import_timezone(struct importing *importing, const char *format,
                                    struct field *field) {
  const char *timezone = format + strlen("tsu:");
  if (*timezone == '\0') return ASHUF_OK;
  return import_text(importing, timezone, strlen(timezone), "the timezone", &field->timezone);
}

static ashuf_status import_parameters(struct importing *importing, const struct format *format,
                                      const char *text, struct field *field) {
  switch (format->parameters) {
    case SIZE:
      return import_size(importing, text, field);
    case DECIMAL:
      return parse_decimal(text + strlen("d:"), field) ? ASHUF_OK : bad_format(importing, text);
    case TIMEZONE:
      return import_timezone(importing, text, field);
    case TYPE_IDS:
      return import_type_ids(importing, text, field);
    default:
      return ASHUF_OK;
  }
}

/* The type and its parameters. Takes field->n_children as known. */
static ashuf_status import_format(struct importing *importing, const char *text,
                                  struct field *field) {
  char label[64];
  const struct format *format = find_format(text);
  if (format == NULL)
    return error_set(importing->error, ASHUF_UNSUPPORTED_TYPE, SITE_IMPORT_UNKNOWN_FORMAT,
                     "unknown format \"%s\"",
                     error_escape(label, sizeof label, text, strlen(text)));
  field->type = format->type;
  field->unit = format->unit;
  int expected = type_info(field->type)->children;
  if (expected >= 0 && field->n_children != expected)
    return BAD(importing->error, SITE_IMPORT_CHILDREN, "%s with %d children, not %d",
               type_info(field->type)->name, field->n_children, expected);
  return import_parameters(importing, format, text, field);
}

/* ---- The tree ---------------------------------------------------------------------------- */

static ashuf_status check_node(struct importing *importing, const struct ArrowSchema *node) {
  struct ashuf_error *error = importing->error;
  if (node == NULL) return BAD(error, SITE_IMPORT_RELEASED, "a child or dictionary is NULL");
  if (node->release == NULL) return BAD(error, SITE_IMPORT_RELEASED, "the schema is released");
  if (node->format == NULL) return BAD(error, SITE_IMPORT_FORMAT, "no format");
  if (node->n_children < 0 || node->n_children > MAX_FIELDS)
    return BAD(error, SITE_IMPORT_CHILDREN, "%lld children", (long long)node->n_children);
  if (node->n_children > 0 && node->children == NULL)
    return BAD(error, SITE_IMPORT_CHILDREN, "children are NULL");
  return ASHUF_OK;
}

static ashuf_status check_budget(struct importing *importing, int32_t depth) {
  if (depth > MAX_FIELD_DEPTH)
    return BAD(importing->error, SITE_SCHEMA_DEPTH, "fields are nested deeper than %d levels",
               MAX_FIELD_DEPTH);
  if (++importing->n_fields > MAX_FIELDS)
    return BAD(importing->error, SITE_SCHEMA_FIELDS, "more than %d fields", MAX_FIELDS);
  return ASHUF_OK;
}

static void import_flags(const struct ArrowSchema *node, struct field *field) {
  field->nullable = (node->flags & ARROW_FLAG_NULLABLE) != 0;
  field->dictionary_ordered =
      node->dictionary != NULL && (node->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0;
  field->keys_sorted = field->type == TYPE_MAP && (node->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0;
}

/* All of a field but its children and dictionary. */
static ashuf_status import_own(struct importing *importing, const struct ArrowSchema *node,
                               struct field *field, int32_t depth) {
  ashuf_status status = check_node(importing, node);
  if (status == ASHUF_OK) status = import_name(importing, node->name, field);
  if (status == ASHUF_OK) status = check_budget(importing, depth);
  if (status != ASHUF_OK) return status;
  field->n_children = (int32_t)node->n_children;
  status = import_format(importing, node->format, field);
  if (status == ASHUF_OK)
    status = import_metadata(importing, node->metadata, &field->metadata, &field->n_metadata);
  import_flags(node, field);
  return status;
}

static ashuf_status import_field(struct importing *importing, const struct ArrowSchema *node,
                                 struct field *field, int32_t depth);

static ashuf_status import_children(struct importing *importing, const struct ArrowSchema *node,
                                    struct field *children, int32_t depth) {
  for (int64_t i = 0; i < node->n_children; i++) {
    ashuf_status status = import_field(importing, node->children[i], &children[i], depth);
    if (status != ASHUF_OK) return status;
  }
  return ASHUF_OK;
}

static ashuf_status import_dictionary(struct importing *importing, const struct ArrowSchema *node,
                                      struct field *field, int32_t depth) {
  if (node->dictionary->dictionary != NULL)
    return error_set(importing->error, ASHUF_UNSUPPORTED_TYPE, SITE_SCHEMA_NESTED_DICTIONARY,
                     "dictionary whose values are dictionary-encoded themselves");
  field->dictionary = schema_fields(importing->schema, 1);
  if (field->dictionary == NULL)
    return schema_no_memory(importing->schema->memory, importing->error);
  return import_field(importing, node->dictionary, field->dictionary, depth);
}

static void name_field(struct ashuf_error *error, const char *what, const struct field *field) {
  char label[72];
  error_prefix(error, "%s \"%s\": ", what, field_label(field, label, sizeof label));
}

static ashuf_status import_field(struct importing *importing, const struct ArrowSchema *node,
                                 struct field *field, int32_t depth) {
  ashuf_status status = import_own(importing, node, field, depth);
  if (status != ASHUF_OK) {
    if (depth > 1) name_field(importing->error, "field", field);
    return status;
  }
  if (field->n_children > 0) {
    struct field *children = schema_fields(importing->schema, field->n_children);
    if (children == NULL) return schema_no_memory(importing->schema->memory, importing->error);
    field->children = children;
    status = import_children(importing, node, children, depth + 1);
  }
  if (status == ASHUF_OK && node->dictionary != NULL)
    status = import_dictionary(importing, node, field, depth);
  return status;
}

static ashuf_status import_columns(struct importing *importing, const struct ArrowSchema *node) {
  ashuf_schema *schema = importing->schema;
  struct field *columns = schema_fields(schema, (int32_t)node->n_children);
  if (columns == NULL) return schema_no_memory(schema->memory, importing->error);
  schema->columns = columns;
  schema->n_columns = (int32_t)node->n_children;
  for (int32_t i = 0; i < schema->n_columns; i++) {
    ashuf_status status = import_field(importing, node->children[i], &columns[i], 1);
    if (status == ASHUF_OK) continue;
    name_field(importing->error, "column", &columns[i]);
    return status;
  }
  return ASHUF_OK;
}

static ashuf_status import_root(struct importing *importing, const struct ArrowSchema *node) {
  ashuf_status status = check_node(importing, node);
  if (status != ASHUF_OK) return status;
  if (strcmp(node->format, "+s") != 0 || node->dictionary != NULL)
    return BAD(importing->error, SITE_IMPORT_ROOT, "the schema is not a struct of columns");
  ashuf_schema *schema = importing->schema;
  status = import_metadata(importing, node->metadata, &schema->metadata, &schema->n_metadata);
  return status == ASHUF_OK ? import_columns(importing, node) : status;
}

ashuf_status ashuf_schema_import(const struct ArrowSchema *schema, ashuf_memory *memory,
                                 ashuf_schema **out, struct ashuf_error *error) {
  if (schema == NULL || out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SCHEMA_ARGUMENT, "no schema or output");
  struct importing importing = {schema_new(memory), error, 0};
  if (importing.schema == NULL) return schema_no_memory(memory, error);
  ashuf_status status = import_root(&importing, schema);
  if (status == ASHUF_OK) status = schema_seal(importing.schema, true, error);
  if (status != ASHUF_OK) {
    ashuf_schema_free(importing.schema);
    return status;
  }
  *out = importing.schema;
  return ASHUF_OK;
}
