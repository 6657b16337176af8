/*
 * Row -> partition: a partitioning bound to a schema.
 *
 * ashuf_partitioner_new checks and copies -> partition_rows any number of times, from any thread
 * -> partition_unref (ashuf_partitioner_free) of every reference.
 */
#ifndef ASHUF_PARTITION_PARTITION_H
#define ASHUF_PARTITION_PARTITION_H

#include "arrow/source.h"

#include <ashuf/partition.h>

enum partition_site {
  SITE_PARTITION_ARGUMENT = 900,
  SITE_PARTITION_KIND = 901,
  SITE_PARTITION_COUNT = 902,
  SITE_PARTITION_KEYS = 903,
  SITE_PARTITION_KEY = 904,
  SITE_PARTITION_MEMORY = 905,
  SITE_SCATTER_MEMORY = 910
};

struct ashuf_partitioner {
  atomic_uint references;
  ashuf_memory *memory; /* a reference */
  ashuf_schema *schema; /* a reference */
  int kind;             /* enum ashuf_partition_kind; SINGLE also where all rows go to 0 anyway */
  int32_t n;            /* partitions */
  int32_t n_keys;
  int32_t keys[]; /* column numbers */
};

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
                             int32_t *ids, struct ashuf_error *error);

#endif /* ASHUF_PARTITION_PARTITION_H */
