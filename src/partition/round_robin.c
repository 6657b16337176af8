#include "partition/round_robin.h"

#include "partition/xorshift.h"

/* Rows of a batch of Comet's, among which the default group is shared out. */
#define BATCH_ROWS 8192
#define MIN_GROUP_ROWS 64

static int64_t default_group(int32_t partitions) {
  int64_t share = BATCH_ROWS / partitions;
  return share < MIN_GROUP_ROWS ? MIN_GROUP_ROWS : share;
}

struct round_robin round_robin_new(int32_t partitions, int64_t group_rows, int64_t map_index) {
  struct xorshift random = xorshift_seeded(map_index);
  /* Spark counts up before it deals the first row. */
  int64_t start = (int64_t)xorshift_int(&random, partitions) + 1;
  return (struct round_robin){
      .group_rows = group_rows == 0 ? default_group(partitions) : group_rows,
      .partitions = partitions,
      .start = (int32_t)(start % partitions)};
}

void round_robin_ids(const struct round_robin *deal, int64_t ordinal, int64_t n, int32_t *ids) {
  int64_t group = ordinal / deal->group_rows;
  int64_t left = deal->group_rows - ordinal % deal->group_rows;
  int64_t turn = group % deal->partitions + deal->start;
  int32_t id = (int32_t)(turn % deal->partitions);
  for (int64_t i = 0; i < n;) {
    int64_t end = left < n - i ? i + left : n;
    for (; i < end; i++) ids[i] = id;
    left = deal->group_rows;
    id = id + 1 == deal->partitions ? 0 : id + 1;
  }
}
