/*
 * Streams that arrow-rs wrote: read each message's metadata and write it again; the bytes have to
 * be the same. Streams of other implementations: read, write, read; the schemas have to be equal.
 */
#include "ipc/metadata.h"

#include "base/bytes.h"
#include "ipc/metadata_int.h"
#include "support/stream_walk.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SKIPPED 77

static char root[512];

typedef void check_file(const char *name, const uint8_t *data, size_t size);

static int check_path(const char *path, check_file *check) {
  size_t size;
  uint8_t *data = stream_walk_file(path, &size);
  if (data == NULL) fail_msg("%s cannot be read", path);
  check(path, data, size);
  free(data);
  return 1;
}

/* Calls check with each file below a folder whose name ends in suffix; returns how many. */
static int each_file(const char *folder, const char *suffix, check_file *check) {
  char path[1024];
  int n = 0;
  DIR *directory = opendir(folder);
  if (directory == NULL) fail_msg("%s cannot be opened", folder);
  struct dirent *entry;
  while ((entry = readdir(directory)) != NULL) {
    size_t length = strlen(entry->d_name);
    bool ends =
        length >= strlen(suffix) && strcmp(entry->d_name + length - strlen(suffix), suffix) == 0;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
      n += each_file(path, suffix, check);
    else if (ends && entry->d_type != DT_DIR)
      n += check_path(path, check);
  }
  closedir(directory);
  return n;
}

static int each_test_file(const char *folder, const char *suffix, check_file *check) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", root, folder);
  return each_file(path, suffix, check);
}

static ashuf_schema *read_schema(const char *name, const struct message *message) {
  struct ashuf_error error;
  ashuf_schema *schema;
  ashuf_status status = schema_read_unsealed(message, NULL, &schema, &error);
  if (status != ASHUF_OK) fail_msg("%s: %s", name, error.message);
  status = schema_seal(schema, false, &error);
  if (status != ASHUF_OK) fail_msg("%s: %s", name, error.message);
  return schema;
}

static void require_bytes(const char *name, const uint8_t *written, size_t written_size,
                          const uint8_t *golden, size_t golden_size) {
  if (written_size > golden_size || golden_size - written_size >= 64 ||
      memcmp(written, golden, written_size) != 0)
    fail_msg("%s: %zu bytes written, %zu expected, or other bytes", name, written_size,
             golden_size);
  for (size_t i = written_size; i < golden_size; i++)
    if (golden[i] != 0) fail_msg("%s: no padding at %zu", name, i);
}

static void check_schema(const char *name, const struct message *message) {
  const struct schema_message *written;
  ashuf_schema *schema = read_schema(name, message);
  assert_int_equal(schema_message_get(schema, &written, NULL), ASHUF_OK);
  require_bytes(name, written->bytes, written->size, message->metadata, message->metadata_size);
  ashuf_schema_free(schema);
}

/* A malloc'ed copy: aligned, and with its exact size under the sanitizer's eyes. */
static void *copy(const uint8_t *bytes, size_t size) {
  void *out = malloc(size == 0 ? 1 : size);
  assert_non_null(out);
  if (size != 0) memcpy(out, bytes, size);
  return out;
}

static void check_batch(const char *name, const struct message *message) {
  const struct batch_header *header = &message->batch;
  struct ipc_node *nodes = copy(header->nodes, header->n_nodes * sizeof *nodes);
  struct ipc_buffer *buffers = copy(header->buffers, header->n_buffers * sizeof *buffers);
  int64_t *variadic = copy(header->variadic, header->n_variadic * sizeof *variadic);
  struct batch_metadata batch = {.is_dictionary = message->type == MESSAGE_DICTIONARY,
                                 .dictionary_id = header->dictionary_id,
                                 .length = header->length,
                                 .body_length = message->body_length,
                                 .nodes = nodes,
                                 .buffers = buffers,
                                 .variadic = variadic,
                                 .n_nodes = header->n_nodes,
                                 .n_buffers = header->n_buffers,
                                 .n_variadic = header->n_variadic};
  size_t size = batch_metadata_size(&batch);
  uint8_t *written = malloc(size);
  assert_non_null(written);
  memset(written, 0xa5, size);
  batch_metadata_write(&batch, written);
  require_bytes(name, written, size, message->metadata, message->metadata_size);
  free(written);
  free(nodes);
  free(buffers);
  free(variadic);
}

static int n_schemas;
static int n_dictionaries;
static int n_batches;

static void check_golden(const char *name, const uint8_t *data, size_t size) {
  struct stream_walk walk = {data, size, 0};
  const uint8_t *metadata;
  size_t metadata_size;
  while (stream_walk_next(&walk, &metadata, &metadata_size)) {
    struct message message;
    struct ashuf_error error;
    if (message_read(metadata, metadata_size, walk.at - metadata_size, &message, &error) !=
        ASHUF_OK)
      fail_msg("%s: %s", name, error.message);
    assert_int_equal(message.version, METADATA_V5);
    stream_walk_skip(&walk, message.body_length);
    n_schemas += message.type == MESSAGE_SCHEMA;
    n_dictionaries += message.type == MESSAGE_DICTIONARY;
    n_batches += message.type == MESSAGE_BATCH;
    if (message.type == MESSAGE_SCHEMA)
      check_schema(name, &message);
    else
      check_batch(name, &message);
  }
}

static void test_arrow_rs_metadata_is_written_byte_for_byte(void **state) {
  (void)state;
  int n = each_test_file("data/own_golden", ".arrows", check_golden);
  assert_true(n > 0);
  assert_int_equal(n_schemas, n);
  assert_int_equal(n_batches, n);
  assert_true(n_dictionaries > 0);
}

static void require_pairs_equal(const char *name, const struct key_value *a, int32_t n_a,
                                const struct key_value *b, int32_t n_b) {
  if (n_a != n_b) fail_msg("%s: %d pairs, then %d", name, n_a, n_b);
  for (int32_t i = 0; i < n_a; i++) {
    assert_int_equal(a[i].key_size, b[i].key_size);
    assert_memory_equal(a[i].key, b[i].key, (size_t)a[i].key_size);
    assert_int_equal(a[i].value_size, b[i].value_size);
    assert_memory_equal(a[i].value, b[i].value, (size_t)a[i].value_size);
  }
}

static void require_schemas_equal(const char *name, const ashuf_schema *a, const ashuf_schema *b) {
  assert_int_equal(a->n_columns, b->n_columns);
  require_pairs_equal(name, a->metadata, a->n_metadata, b->metadata, b->n_metadata);
  for (int32_t i = 0; i < a->n_columns; i++) {
    const struct field *left = &a->columns[i];
    const struct field *right = &b->columns[i];
    if (!field_equal(left, right)) fail_msg("%s: column %d changed", name, i);
    assert_int_equal(left->dictionary_id, right->dictionary_id);
    require_pairs_equal(name, left->metadata, left->n_metadata, right->metadata, right->n_metadata);
  }
}

static int n_foreign;

/* Messages of any kind have to be taken. */
static void check_rest(const char *name, struct stream_walk *walk) {
  const uint8_t *metadata;
  size_t size;
  struct message message;
  struct ashuf_error error;
  while (stream_walk_next(walk, &metadata, &size)) {
    if (message_read(metadata, size, 0, &message, &error) != ASHUF_OK)
      fail_msg("%s: %s", name, error.message);
    stream_walk_skip(walk, message.body_length);
  }
}

static void check_foreign(const char *name, const uint8_t *data, size_t size) {
  struct stream_walk walk = {data, size, 0};
  const uint8_t *metadata;
  size_t metadata_size;
  struct message message;
  struct ashuf_error error;
  if (strstr(name, "_bad_") != NULL || strstr(name, "_either_") != NULL) return;
  if (!stream_walk_next(&walk, &metadata, &metadata_size)) return;
  if (message_read(metadata, metadata_size, 0, &message, &error) != ASHUF_OK)
    fail_msg("%s: %s", name, error.message);
  ashuf_schema *schema = NULL;
  if (schema_read_unsealed(&message, NULL, &schema, &error) == ASHUF_BIG_ENDIAN) return;
  ashuf_schema_free(schema);
  schema = read_schema(name, &message);
  const struct schema_message *written;
  assert_int_equal(schema_message_get(schema, &written, NULL), ASHUF_OK);
  assert_int_equal(message_read(written->bytes, written->size, 0, &message, NULL), ASHUF_OK);
  ashuf_schema *again = read_schema(name, &message);
  require_schemas_equal(name, schema, again);
  ashuf_schema_free(again);
  ashuf_schema_free(schema);
  n_foreign++;
  check_rest(name, &walk);
}

static void test_schemas_of_other_writers_survive_a_round_trip(void **state) {
  (void)state;
  n_foreign = 0;
  (void)each_test_file("data/ipc_cases", ".stream", check_foreign);
  assert_true(n_foreign > 0);
}

static void test_streams_of_many_implementations_are_taken(void **state) {
  (void)state;
  n_foreign = 0;
  assert_true(each_test_file("data/ipc_golden", ".stream", check_foreign) > 0);
  assert_true(n_foreign > 0);
}

/* Streams that are bad by their metadata: made for other readers, so named by what is wrong. */
static const struct {
  const char *name;
  ashuf_status status;
} bad_metadata[] = {
    {"009_bad_body_len_negative", ASHUF_BAD_FRAMING},
    {"015_bad_header_type_99", ASHUF_BAD_METADATA},
    {"016_bad_metadata_version_v6", ASHUF_BAD_METADATA},
    {"017_bad_root_offset_oob", ASHUF_BAD_METADATA},
    {"018_bad_type_none", ASHUF_BAD_SCHEMA},
    {"019_bad_type_tag_200", ASHUF_UNSUPPORTED_TYPE},
    {"022_bad_fsl_negative", ASHUF_BAD_SCHEMA},
    {"023_bad_decimal_prec_0", ASHUF_BAD_SCHEMA},
    {"024_bad_decimal_prec_39", ASHUF_BAD_SCHEMA},
    {"025_bad_decimal_width_96", ASHUF_BAD_SCHEMA},
    {"026_bad_list_no_child", ASHUF_BAD_SCHEMA},
    {"027_bad_list_two_children", ASHUF_BAD_SCHEMA},
    {"028_bad_map_child_not_struct", ASHUF_BAD_SCHEMA},
    {"029_bad_map_three_fields", ASHUF_BAD_SCHEMA},
    {"030_bad_ree_one_child", ASHUF_BAD_SCHEMA},
    {"031_bad_ree_float_runends", ASHUF_BAD_SCHEMA},
    {"035_bad_union_ids_count", ASHUF_BAD_SCHEMA},
    {"036_bad_dict_index_float", ASHUF_BAD_SCHEMA},
    {"037_bad_schema_depth_2000", ASHUF_BAD_SCHEMA},
    {"116_bad_schema_bad_leaf_depth40", ASHUF_BAD_METADATA},
    {"117_bad_schema_dag_bomb", ASHUF_BAD_METADATA},
    {"119_either_big_endian", ASHUF_BIG_ENDIAN},
    {"178_bad_schema_header_absent", ASHUF_BAD_METADATA},
    {"179_either_schema_fields_absent", ASHUF_BAD_SCHEMA},
    {"180_bad_field_type_absent", ASHUF_BAD_METADATA},
};

/* The status of the first message that is refused; each in a block of its exact size. */
static ashuf_status read_all(const uint8_t *data, size_t size) {
  struct stream_walk walk = {data, size, 0};
  const uint8_t *metadata;
  size_t metadata_size;
  ashuf_status status = ASHUF_OK;
  while (status == ASHUF_OK && stream_walk_next(&walk, &metadata, &metadata_size)) {
    struct message message;
    ashuf_schema *schema = NULL;
    uint8_t *own = copy(metadata, metadata_size);
    status = message_read(own, metadata_size, 0, &message, NULL);
    if (status == ASHUF_OK && message.type == MESSAGE_SCHEMA)
      status = schema_read(&message, NULL, &schema, NULL);
    ashuf_schema_free(schema);
    free(own);
    if (status == ASHUF_OK) stream_walk_skip(&walk, message.body_length);
  }
  return status;
}

static void test_bad_metadata_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_metadata / sizeof bad_metadata[0]; i++) {
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/data/ipc_cases/%s.stream", root, bad_metadata[i].name);
    uint8_t *data = stream_walk_file(path, &size);
    if (data == NULL) fail_msg("%s cannot be read", path);
    ashuf_status status = read_all(data, size);
    free(data);
    if (status != bad_metadata[i].status)
      fail_msg("%s: %s", bad_metadata[i].name, ashuf_status_name(status));
  }
}

static void check_no_crash(const char *name, const uint8_t *data, size_t size) {
  (void)name;
  (void)read_all(data, size);
}

static void test_finds_of_a_fuzzer_do_no_harm(void **state) {
  (void)state;
  assert_true(each_test_file("data/ipc_fuzz", "", check_no_crash) > 0);
}

int main(void) {
  const char *data = getenv("ASHUF_TEST_DATA");
  if (data == NULL) {
    printf("skipped: ASHUF_TEST_DATA is not set\n");
    return SKIPPED;
  }
  snprintf(root, sizeof root, "%s", data);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow_rs_metadata_is_written_byte_for_byte),
      cmocka_unit_test(test_schemas_of_other_writers_survive_a_round_trip),
      cmocka_unit_test(test_streams_of_many_implementations_are_taken),
      cmocka_unit_test(test_bad_metadata_is_refused),
      cmocka_unit_test(test_finds_of_a_fuzzer_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
