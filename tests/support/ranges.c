#include "support/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

ashuf_schema *range_schema(const struct test_column *batch) {
  ashuf_schema *schema = NULL;
  assert_int_equal(ashuf_schema_import(&batch->schema, NULL, &schema, NULL), ASHUF_OK);
  return schema;
}

static const int32_t first_columns[] = {0, 1, 2, 3};

struct ashuf_partitioning range_of(int32_t partitions, int32_t n_keys,
                                   const struct ArrowArray *bounds, int rule) {
  struct ashuf_partitioning how = ASHUF_PARTITIONING_INIT;
  how.kind = ASHUF_PARTITION_RANGE;
  how.partitions = partitions;
  how.keys = first_columns;
  how.n_keys = n_keys;
  how.bounds = bounds;
  how.range_rule = rule;
  return how;
}
