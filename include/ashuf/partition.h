/*
 * Which partition a row belongs to. Placement matches Apache Spark bit for bit: rows placed by
 * another rule are silently lost to a join, so the placement alone is public too.
 * docs/PARTITIONING.md has every rule.
 */
#ifndef ASHUF_PARTITION_H
#define ASHUF_PARTITION_H

#include <ashuf/block.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ashuf_partition_kind {
  ASHUF_PARTITION_SINGLE = 0,     /* every row to partition 0 */
  ASHUF_PARTITION_HASH = 1,       /* floorMod(murmur3(keys, seed 42), partitions), as Spark */
  ASHUF_PARTITION_RANGE = 2,      /* by comparing the keys with bounds, as Spark */
  ASHUF_PARTITION_ROUND_ROBIN = 3 /* evenly, without keys */
};

/* A key equal to a bound lies left of it in Spark (and in Comet's JVM shuffle), right of it in
 * Comet's native shuffle. */
enum ashuf_range_rule { ASHUF_RANGE_SPARK = 0, ASHUF_RANGE_COMET = 1 };

enum ashuf_round_robin {
  /* By the hash of the first max_hash_columns columns, as Comet's native shuffle: the same row
   * always goes to the same partition, so that a task that is run again sends no row elsewhere. */
  ASHUF_ROUND_ROBIN_HASH_ALL = 0,
  /* Groups of rows in turn: even, and cheap, but placement depends on the order of the rows. */
  ASHUF_ROUND_ROBIN_POSITIONAL = 1
};

/* How the rows of a range key are ordered, flags added up. Without one of NULLS_: as in SQL, first
 * where ascending, last where descending. */
enum ashuf_order {
  ASHUF_ORDER_ASCENDING = 0,
  ASHUF_ORDER_DESCENDING = 1,
  ASHUF_ORDER_NULLS_FIRST = 2,
  ASHUF_ORDER_NULLS_LAST = 4
};

struct ashuf_partitioning {
  size_t struct_size;
  int kind;            /* enum ashuf_partition_kind */
  int32_t partitions;  /* >= 1 */
  const int32_t *keys; /* HASH, RANGE: column numbers of the schema, in this order */
  int32_t n_keys;      /* >= 1 for HASH and RANGE, unless the schema has no columns */

  /* RANGE */
  /*
   * The rows that part the partitions, in the order of the keys: a struct array with a child a
   * key, of the key column's type (of its values behind a dictionary or runs, and strings
   * or binaries for views: see ashuf_range_schema). Equal neighbours count once; then at most
   * partitions - 1 of them. With fewer the last partitions stay empty; NULL or no rows: all rows go
   * to partition 0.
   */
  const struct ArrowArray *bounds;
  const uint8_t *orders; /* n_keys sums of enum ashuf_order, or NULL: all ascending */
  int range_rule;        /* enum ashuf_range_rule */

  /* ROUND_ROBIN */
  int round_robin;          /* enum ashuf_round_robin */
  int32_t max_hash_columns; /* HASH_ALL: how many columns; 0: all */
  int64_t group_rows;       /* POSITIONAL: rows of a group; 0: 8192 / partitions, in [64, 8192] */
  int64_t map_index;        /* POSITIONAL: the map task's number among its stage's, as in Spark */
};
#define ASHUF_PARTITIONING_INIT \
  { sizeof(struct ashuf_partitioning), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* A partitioning bound to a schema. Immutable; shared by threads. */
typedef struct ashuf_partitioner ashuf_partitioner;

/*
 * Checks and copies the partitioning (everything it points to is borrowed for the call) and takes
 * a reference to the schema. All rows go to partition 0 where there is one partition or where the
 * schema has no columns, whatever the kind. Errors: INVALID_ARGUMENT, for bounds out of order too;
 * UNSUPPORTED_TYPE for a key whose type Spark cannot hash or order, naming the column; BAD_ARRAY
 * for damaged bounds.
 */
ASHUF_API ashuf_status ashuf_partitioner_new(const ashuf_schema *schema,
                                             const struct ashuf_partitioning *partitioning,
                                             ashuf_memory *memory, ashuf_partitioner **out,
                                             struct ashuf_error *error);
ASHUF_API void ashuf_partitioner_free(ashuf_partitioner *partitioner);

/* Where in a map task's rows a batch stands. One a task; set up by the INIT macro. */
struct ashuf_partition_cursor {
  size_t struct_size;
  int64_t row_ordinal; /* rows of the task before this batch */
};
#define ASHUF_PARTITION_CURSOR_INIT \
  { sizeof(struct ashuf_partition_cursor), 0 }

/*
 * The partition of each row of batch (borrowed) into ids[0, batch->length), each in
 * [0, partitions). cursor moves on by the batch's rows; only POSITIONAL round robin looks at it,
 * for any other it may be NULL. On failure ids and cursor are as they were.
 */
ASHUF_API ashuf_status ashuf_partition_ids(const ashuf_partitioner *partitioner,
                                           struct ashuf_partition_cursor *cursor,
                                           const struct ArrowArray *batch, int32_t *ids,
                                           struct ashuf_error *error);

/*
 * Bounds for RANGE. The functions below take from a partitioning only its partitions, keys and
 * orders, and their results go into its bounds.
 */

/* The schema of the bounds: the key columns, in the order of the keys, dictionaries and runs as
 * values, views as strings and binaries. */
ASHUF_API ashuf_status ashuf_range_schema(const ashuf_schema *schema,
                                          const struct ashuf_partitioning *partitioning,
                                          ashuf_memory *memory, ashuf_schema **out,
                                          struct ashuf_error *error);

/*
 * Spark's RangePartitioner.determineBounds: candidate keys (rows of ashuf_range_schema, borrowed,
 * in any order) of which each stands for weights[i] rows (NULL: 1 each) -> at most partitions - 1
 * strictly increasing bounds, which the caller releases. A bound's zero is positive and its NaN
 * the canonical one.
 */
ASHUF_API ashuf_status ashuf_range_bounds(const ashuf_schema *schema,
                                          const struct ashuf_partitioning *partitioning,
                                          const struct ArrowArray *candidates, const float *weights,
                                          ashuf_memory *memory, struct ArrowArray *bounds,
                                          struct ashuf_error *error);

/*
 * Spark's sampling of n_inputs inputs (map tasks, files), each with a reservoir of
 * ceil(3 * min(100 * partitions, 1e6) / n_inputs) keys filled by the same generator; seed stands
 * for Spark's RDD number. Up to 300 * partitions rows of a single input are no sample at all but
 * all the keys. Spark reads an input again that holds so many of the rows that its reservoir
 * does not stand for them; here a second sample with the same probability is taken on the way.
 * The bounds depend on the rows of each input and their order, not on how they are cut into
 * batches nor on which input comes first. One thread at a time.
 */
typedef struct ashuf_range_sampler ashuf_range_sampler;

ASHUF_API ashuf_status ashuf_range_sampler_new(const ashuf_schema *schema,
                                               const struct ashuf_partitioning *partitioning,
                                               int32_t n_inputs, int32_t seed, ashuf_memory *memory,
                                               ashuf_range_sampler **out,
                                               struct ashuf_error *error);
/* Takes a batch of the schema (borrowed), of input number input. After a failure the sampler takes
 * no more: INVALID_STATE. */
ASHUF_API ashuf_status ashuf_range_sampler_push(ashuf_range_sampler *sampler, int32_t input,
                                                const struct ArrowArray *batch,
                                                struct ashuf_error *error);
/* The bounds of the rows so far, for the caller to release; more rows may follow. */
ASHUF_API ashuf_status ashuf_range_sampler_bounds(const ashuf_range_sampler *sampler,
                                                  struct ArrowArray *bounds,
                                                  struct ashuf_error *error);
ASHUF_API void ashuf_range_sampler_free(ashuf_range_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif /* ASHUF_PARTITION_H */
