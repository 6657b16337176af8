/*
 * Row -> partition: a partitioning bound to a schema.
 *
 * ashuf_partitioner_new checks and copies -> partition_rows any number of times, from any thread
 * -> partition_unref (ashuf_partitioner_free) of every reference.
 */
#ifndef ASHUF_PARTITION_PARTITION_H
#define ASHUF_PARTITION_PARTITION_H

#include "arrow/source.h"
#include "partition/round_robin.h"

#include <ashuf/partition.h>

enum partition_site {
  SITE_PARTITION_ARGUMENT = 900,
  SITE_PARTITION_KIND = 901,
  SITE_PARTITION_COUNT = 902,
  SITE_PARTITION_KEYS = 903,
  SITE_PARTITION_KEY = 904,
  SITE_PARTITION_MEMORY = 905,
  SITE_PARTITION_RULE = 906,
  SITE_PARTITION_GROUP = 907,
  SITE_PARTITION_COLUMNS = 908,
  SITE_PARTITION_CURSOR = 909,
  SITE_SCATTER_MEMORY = 910,
  SITE_RANGE_MEMORY = 920,
  SITE_RANGE_ORDER = 921,
  SITE_RANGE_COUNT = 922,
  SITE_RANGE_KEY_ORDER = 923,
  SITE_SAMPLE_MEMORY = 930,
  SITE_SAMPLE_INPUTS = 931,
  SITE_SAMPLE_INPUT = 932,
  SITE_SAMPLE_STATE = 933,
  SITE_SAMPLE_WEIGHT = 934,
  SITE_SAMPLE_SIZE = 935
};

/* What a kind comes down to. */
enum partition_rule { RULE_ALL_TO_0, RULE_HASH, RULE_RANGE, RULE_POSITION };

struct range;

struct ashuf_partitioner {
  atomic_uint references;
  ashuf_memory *memory; /* a reference */
  ashuf_schema *schema; /* a reference */
  enum partition_rule rule;
  int32_t n;               /* partitions */
  struct range *range;     /* RULE_RANGE */
  struct round_robin deal; /* RULE_POSITION */
  int32_t n_keys;          /* RULE_HASH: columns hashed */
  int32_t keys[];
};

/* INVALID_ARGUMENT unless own's keys are columns of the schema, at least one if it has any. */
ashuf_status partition_check_keys(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                                  struct ashuf_error *error);

/* What ashuf_partitioner_new does, arguments not NULL. */
ashuf_status partition_new(const ashuf_schema *schema, const struct ashuf_partitioning *own,
                           ashuf_memory *memory, ashuf_partitioner **out,
                           struct ashuf_error *error);

/* One more reference. */
ashuf_partitioner *partition_ref(const ashuf_partitioner *partitioner);
void partition_unref(ashuf_partitioner *partitioner);

/*
 * The partition of every row of one batch of the set into ids[0, set->lengths[batch]).
 * first_row_ordinal: rows of earlier batches, for partitionings that go by position.
 */
ashuf_status partition_rows(const ashuf_partitioner *partitioner, const struct source_set *set,
                            size_t batch, int64_t first_row_ordinal, int32_t *ids,
                            struct ashuf_error *error);

/* The same for a batch of no set; ids are written on success only. */
ashuf_status partition_batch(const ashuf_partitioner *partitioner, const struct ArrowArray *batch,
                             int64_t first_row_ordinal, int32_t *ids, struct ashuf_error *error);

#endif /* ASHUF_PARTITION_PARTITION_H */
