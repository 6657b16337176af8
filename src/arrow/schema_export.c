/*
 * The exporter of the C Data Interface.
 *
 * Every ArrowSchema struct stands on one allocation of its own, which holds the structs of its
 * children (not what those own), so that each can be moved out and released alone:
 *
 *   [struct export_node][child pointers][child structs][dictionary struct][format][name][metadata]
 */
#include "arrow/schema_int.h"
#include "base/bytes.h"

#include <string.h>

struct export_node {
  ashuf_memory *memory; /* a reference */
  size_t size;          /* of the whole allocation */
};

/* What a field or the root of a schema says. */
struct exporting {
  ashuf_memory *memory;
  const struct field *field; /* NULL: the root, a struct */
  const struct field *children;
  const struct field *dictionary;
  const struct key_value *metadata;
  int32_t n_children;
  int32_t n_metadata;
};

/* ---- Format ------------------------------------------------------------------------------ */

static const char units[] = "smun";

static void write_timestamp(struct text *text, const struct field *field) {
  text_string(text, "ts");
  text_append(text, &units[field->unit], 1);
  text_string(text, ":");
  if (field->timezone != NULL) text_string(text, field->timezone);
}

static void write_unit(struct text *text, const char *prefix, const struct field *field) {
  text_string(text, prefix);
  text_append(text, &units[field->unit], 1);
}

static void write_size(struct text *text, const char *prefix, int32_t size) {
  text_string(text, prefix);
  text_integer(text, size);
}

static void write_decimal(struct text *text, const struct field *field) {
  write_size(text, "d:", field->precision);
  write_size(text, ",", field->scale);
  if (field->type != TYPE_DECIMAL128) write_size(text, ",", type_info(field->type)->width * 8);
}

static void write_union(struct text *text, const struct field *field) {
  text_string(text, field->type == TYPE_DENSE_UNION ? "+ud:" : "+us:");
  for (int32_t i = 0; i < field->n_children; i++)
    write_size(text, i > 0 ? "," : "", field->type_ids[i]);
}

/* Formats without parameters. */
static const char *const plain_formats[TYPE_COUNT] = {
    [TYPE_NULL] = "n",
    [TYPE_BOOL] = "b",
    [TYPE_INT8] = "c",
    [TYPE_INT16] = "s",
    [TYPE_INT32] = "i",
    [TYPE_INT64] = "l",
    [TYPE_UINT8] = "C",
    [TYPE_UINT16] = "S",
    [TYPE_UINT32] = "I",
    [TYPE_UINT64] = "L",
    [TYPE_FLOAT16] = "e",
    [TYPE_FLOAT32] = "f",
    [TYPE_FLOAT64] = "g",
    [TYPE_DATE32] = "tdD",
    [TYPE_DATE64] = "tdm",
    [TYPE_INTERVAL_MONTHS] = "tiM",
    [TYPE_INTERVAL_DAY_TIME] = "tiD",
    [TYPE_INTERVAL_MONTH_DAY_NANO] = "tin",
    [TYPE_BINARY] = "z",
    [TYPE_LARGE_BINARY] = "Z",
    [TYPE_UTF8] = "u",
    [TYPE_LARGE_UTF8] = "U",
    [TYPE_BINARY_VIEW] = "vz",
    [TYPE_UTF8_VIEW] = "vu",
    [TYPE_LIST] = "+l",
    [TYPE_LARGE_LIST] = "+L",
    [TYPE_LIST_VIEW] = "+vl",
    [TYPE_LARGE_LIST_VIEW] = "+vL",
    [TYPE_STRUCT] = "+s",
    [TYPE_MAP] = "+m",
    [TYPE_RUN_END_ENCODED] = "+r",
};

static void write_format(struct text *text, const struct field *field) {
  const char *plain = field == NULL ? "+s" : plain_formats[field->type];
  if (plain != NULL) {
    text_string(text, plain);
    return;
  }
  switch (field->type) {
    case TYPE_TIME32:
    case TYPE_TIME64:
      write_unit(text, "tt", field);
      break;
    case TYPE_DURATION:
      write_unit(text, "tD", field);
      break;
    case TYPE_TIMESTAMP:
      write_timestamp(text, field);
      break;
    case TYPE_FIXED_SIZE_BINARY:
      write_size(text, "w:", field->byte_width);
      break;
    case TYPE_FIXED_SIZE_LIST:
      write_size(text, "+w:", field->list_size);
      break;
    case TYPE_SPARSE_UNION:
    case TYPE_DENSE_UNION:
      write_union(text, field);
      break;
    default:
      write_decimal(text, field);
      break;
  }
}

/* ---- Metadata ---------------------------------------------------------------------------- */

static void write_i32(struct text *text, int32_t value) {
  text_append(text, (const char *)&value, sizeof value);
}

static void write_metadata(struct text *text, const struct exporting *from) {
  if (from->n_metadata == 0) return;
  write_i32(text, from->n_metadata);
  for (int32_t i = 0; i < from->n_metadata; i++) {
    const struct key_value *pair = &from->metadata[i];
    write_i32(text, pair->key_size);
    text_append(text, pair->key, (size_t)pair->key_size);
    write_i32(text, pair->value_size);
    text_append(text, pair->value, (size_t)pair->value_size);
  }
}

/* ---- Nodes ------------------------------------------------------------------------------- */

static void release_node(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++)
    if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
  if (schema->dictionary != NULL && schema->dictionary->release != NULL)
    schema->dictionary->release(schema->dictionary);
  struct export_node *node = schema->private_data;
  ashuf_memory *memory = node->memory;
  memory_free(memory, node, node->size);
  ashuf_memory_free(memory);
  schema->release = NULL;
}

static int64_t node_flags(const struct field *field) {
  if (field == NULL) return 0;
  return (field->dictionary_ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0) |
         (field->nullable ? ARROW_FLAG_NULLABLE : 0) |
         (field->keys_sorted ? ARROW_FLAG_MAP_KEYS_SORTED : 0);
}

/* Bytes in front of the texts: the header, pointers and structs. */
static size_t structs_size(const struct exporting *from) {
  size_t n = (size_t)from->n_children;
  return sizeof(struct export_node) + n * sizeof(struct ArrowSchema *) +
         (n + (from->dictionary != NULL ? 1 : 0)) * sizeof(struct ArrowSchema);
}

/* Everything behind the structs. Each text's start goes into out where that is not NULL. */
static void write_texts(struct text *text, const struct exporting *from, struct ArrowSchema *out) {
  if (out != NULL) out->format = text->out + text->size;
  write_format(text, from->field);
  text_append(text, "", 1);
  if (out != NULL) out->name = text->out + text->size;
  if (from->field != NULL) text_append(text, from->field->name, from->field->name_size);
  text_append(text, "", 1);
  if (out != NULL && from->n_metadata > 0) out->metadata = text->out + text->size;
  write_metadata(text, from);
}

/* The node with released children in place of its own. */
static bool make_node(const struct exporting *from, struct ArrowSchema *out) {
  struct text texts = {NULL, 0, 0};
  write_texts(&texts, from, NULL);
  size_t structs = structs_size(from);
  size_t size = structs + texts.size;
  struct export_node *node = memory_zeroed(from->memory, size);
  if (node == NULL) return false;
  *node = (struct export_node){ashuf_memory_ref(from->memory), size};

  struct ArrowSchema **pointers = (struct ArrowSchema **)(node + 1);
  struct ArrowSchema *children = (struct ArrowSchema *)(pointers + from->n_children);
  for (int32_t i = 0; i < from->n_children; i++) pointers[i] = &children[i];
  struct ArrowSchema made = {0};
  made.flags = node_flags(from->field);
  made.n_children = from->n_children;
  made.children = from->n_children > 0 ? pointers : NULL;
  made.dictionary = from->dictionary != NULL ? children + from->n_children : NULL;
  made.release = release_node;
  made.private_data = node;
  texts = (struct text){(char *)node + structs, texts.size, 0};
  write_texts(&texts, from, &made);
  *out = made;
  return true;
}

static bool export_node(const struct exporting *from, struct ArrowSchema *out);

static bool export_child(const struct field *field, ashuf_memory *memory, struct ArrowSchema *out) {
  struct exporting from = {.memory = memory,
                           .field = field,
                           .children = field->children,
                           .dictionary = field->dictionary,
                           .metadata = field->metadata,
                           .n_children = field->n_children,
                           .n_metadata = field->n_metadata};
  return export_node(&from, out);
}

/* On failure out is as it was. */
static bool export_node(const struct exporting *from, struct ArrowSchema *out) {
  struct ArrowSchema made;
  if (!make_node(from, &made)) return false;
  bool whole = true;
  for (int32_t i = 0; i < from->n_children && whole; i++)
    whole = export_child(&from->children[i], from->memory, made.children[i]);
  if (whole && from->dictionary != NULL)
    whole = export_child(from->dictionary, from->memory, made.dictionary);
  if (!whole) {
    release_node(&made);
    return false;
  }
  *out = made;
  return true;
}

ashuf_status field_export(const struct field *field, ashuf_memory *memory, struct ArrowSchema *out,
                          struct ashuf_error *error) {
  return export_child(field, memory, out) ? ASHUF_OK : schema_no_memory(memory, error);
}

ashuf_status ashuf_schema_export(const ashuf_schema *schema, struct ArrowSchema *out,
                                 struct ashuf_error *error) {
  if (schema == NULL || out == NULL)
    return error_set(error, ASHUF_INVALID_ARGUMENT, SITE_SCHEMA_ARGUMENT, "no schema or no output");
  struct exporting from = {.memory = schema->memory,
                           .children = schema->columns,
                           .metadata = schema->metadata,
                           .n_children = schema->n_columns,
                           .n_metadata = schema->n_metadata};
  return export_node(&from, out) ? ASHUF_OK : schema_no_memory(schema->memory, error);
}
