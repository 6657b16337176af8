#include "support/writer_files.h"

#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

void expect_status(ashuf_status found, ashuf_status wanted, const struct ashuf_error *error) {
  if (found != wanted) print_error("%s\n", found == ASHUF_OK ? "success" : error->message);
  assert_int_equal(found, wanted);
}

ashuf_partitioner *files_partitioner(int32_t partitions) {
  struct test_column model = output_batch(0, 1);
  ashuf_partitioner *partitioner = output_partitioner(&model.schema, partitions);
  column_free(&model);
  return partitioner;
}

ashuf_writer *files_open(const struct ashuf_writer_options *options, int32_t partitions,
                         const char *index_name) {
  struct ashuf_error error;
  ashuf_writer *writer = NULL;
  ashuf_partitioner *partitioner = files_partitioner(partitions);
  ashuf_status status = ashuf_writer_open_files(
      partitioner, options, scratch_path(OUTPUT_DATA),
      index_name != NULL ? scratch_path(index_name) : NULL, &writer, &error);
  ashuf_partitioner_free(partitioner);
  expect_status(status, ASHUF_OK, &error);
  return writer;
}

void files_push(ashuf_writer *writer, int64_t first, int64_t n) {
  struct ArrowArray array = output_array(output_batch(first, n));
  struct ashuf_error error;
  expect_status(ashuf_writer_push(writer, &array, &error), ASHUF_OK, &error);
}
