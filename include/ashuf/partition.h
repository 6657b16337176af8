/*
 * Which partition a row belongs to. Placement matches Apache Spark bit for bit: rows placed by
 * another rule are silently lost to a join, so the placement alone is public too.
 */
#ifndef ASHUF_PARTITION_H
#define ASHUF_PARTITION_H

#include <ashuf/block.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ashuf_partition_kind {
  ASHUF_PARTITION_SINGLE = 0, /* every row to partition 0 */
  ASHUF_PARTITION_HASH = 1    /* floorMod(murmur3(keys, seed 42), partitions), as Spark */
};

struct ashuf_partitioning {
  size_t struct_size;
  int kind;            /* enum ashuf_partition_kind */
  int32_t partitions;  /* >= 1 */
  const int32_t *keys; /* column numbers of the schema, hashed in this order */
  int32_t n_keys;      /* >= 1 for HASH, unless the schema has no columns */
};
#define ASHUF_PARTITIONING_INIT {sizeof(struct ashuf_partitioning), 0, 0, 0, 0}

/* A partitioning bound to a schema. Immutable; shared by threads. */
typedef struct ashuf_partitioner ashuf_partitioner;

/*
 * Checks and copies the partitioning and takes a reference to the schema. Errors:
 * INVALID_ARGUMENT; UNSUPPORTED_TYPE for a key whose type Spark cannot hash, naming the column.
 */
ASHUF_API ashuf_status ashuf_partitioner_new(const ashuf_schema *schema,
                                             const struct ashuf_partitioning *partitioning,
                                             ashuf_memory *memory, ashuf_partitioner **out,
                                             struct ashuf_error *error);
ASHUF_API void ashuf_partitioner_free(ashuf_partitioner *partitioner);

/*
 * The partition of each row of batch (borrowed) into ids[0, batch->length), each in
 * [0, partitions).
 */
ASHUF_API ashuf_status ashuf_partition_ids(const ashuf_partitioner *partitioner,
                                           const struct ArrowArray *batch, int32_t *ids,
                                           struct ashuf_error *error);

#ifdef __cplusplus
}
#endif

#endif /* ASHUF_PARTITION_H */
