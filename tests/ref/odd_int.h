/* Inside the generator of odd blocks: types, schema messages, columns, codecs. */
#ifndef TESTS_REF_ODD_INT_H
#define TESTS_REF_ODD_INT_H

#include "ref/odd_blocks.h"
#include "ref/odd_flat.h"

/* Tags of the Type union of Schema.fbs. */
enum odd_tag {
  ODD_NULL = 1,
  ODD_INT,
  ODD_FLOAT,
  ODD_BINARY,
  ODD_UTF8,
  ODD_BOOL,
  ODD_DECIMAL,
  ODD_DATE,
  ODD_TIME,
  ODD_TIMESTAMP,
  ODD_INTERVAL,
  ODD_LIST,
  ODD_STRUCT,
  ODD_UNION,
  ODD_FIXED_BINARY,
  ODD_FIXED_LIST,
  ODD_MAP,
  ODD_DURATION,
  ODD_LARGE_BINARY,
  ODD_LARGE_UTF8,
  ODD_LARGE_LIST,
  ODD_RUN_ENDS,
  ODD_BINARY_VIEW,
  ODD_UTF8_VIEW,
  ODD_LIST_VIEW,
  ODD_LARGE_LIST_VIEW
};

#define ODD_MAX_CHILDREN 4

struct odd_type {
  int tag;
  int width; /* bytes of a value or an offset */
  bool is_signed;
  int unit;
  int size; /* FixedSizeBinary, FixedSizeList */
  bool dense;
  int ids[ODD_MAX_CHILDREN]; /* of a union's members */
  bool counted_ids;          /* they count from 0 and may be left out */
  struct odd_type *children[ODD_MAX_CHILDREN];
  int n_children;
  bool has_dictionary;
  bool sent; /* its dictionary */
  bool never_null;
  int64_t id;
  int index_width;
  bool index_signed;
  int64_t n_values;
};

struct odd_type *odd_type_random(struct test_random *random, int depth, bool late);
void odd_type_free(struct odd_type *type);
/* Whether offsets of the type may be stored as lengths. */
bool odd_type_mapped(const struct odd_type *type);
/* The Schema table. */
struct odd_object *odd_schema(struct odd_flat *flat, struct odd_type *const *columns, int n);

/* The body of one batch as it grows. */
struct odd_batch {
  struct test_random *random;
  bool is_v4;
  bool lengths;
  int compression; /* -1: none */
  struct odd_bytes nodes, variadic;
  struct odd_bytes buffers[2048];
  int n_buffers;
};

/* as_values: a dictionary's values, not indices into it. */
void odd_column(struct odd_batch *batch, const struct odd_type *type, int64_t n, bool as_values);
/* Lays the buffers out into body and gives the RecordBatch table. */
struct odd_object *odd_batch_finish(struct odd_batch *batch, struct odd_flat *flat, int64_t length,
                                    struct odd_bytes *body);

/* Appends the stream in a codec (NONE, LZ4_, ZSTD, SNAP: 0 to 3), oddly cut. */
void odd_compress(struct test_random *random, int codec, const struct odd_bytes *stream,
                  struct odd_bytes *out);
/* One frame for body compression: 0 LZ4, 1 ZSTD. */
void odd_compress_buffer(struct test_random *random, int codec, const struct odd_bytes *buffer,
                         struct odd_bytes *out);

#endif /* TESTS_REF_ODD_INT_H */
