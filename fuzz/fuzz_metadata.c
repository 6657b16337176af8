/*
 * Message metadata, and the schema in it. A schema that is read can be exported, and its own
 * message reads back as the same schema.
 */
#include "fuzz/fuzz.h"
#include "ipc/metadata.h"

#include <stdlib.h>

static ashuf_schema *read_schema(const uint8_t *metadata, size_t size) {
  struct message message;
  ashuf_schema *schema = NULL;
  struct ashuf_error error;
  if (message_read(metadata, size, 0, &message, &error) != ASHUF_OK ||
      message.type != MESSAGE_SCHEMA || schema_read(&message, NULL, &schema, &error) != ASHUF_OK)
    return NULL;
  return schema;
}

static void read_again(const ashuf_schema *schema) {
  const struct schema_message *encoded;
  struct ArrowSchema exported;
  if (ashuf_schema_export(schema, &exported, NULL) != ASHUF_OK) fuzz_fail("no export");
  exported.release(&exported);
  if (schema_message_get(schema, &encoded, NULL) != ASHUF_OK) fuzz_fail("no schema message");
  ashuf_schema *again = read_schema(encoded->bytes, encoded->size);
  if (again == NULL) fuzz_fail("a written schema is not read");
  if (schema_require_equal(schema, again, NULL) != ASHUF_OK) fuzz_fail("another schema is read");
  ashuf_schema_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *metadata = fuzz_guard(data, size);
  if (metadata == NULL) return 0;
  fuzz_decoded += size;
  ashuf_schema *schema = read_schema(metadata, size);
  if (schema != NULL) read_again(schema);
  ashuf_schema_free(schema);
  return 0;
}
