/*
 * Columns for tests: ArrowSchema and ArrowArray together, from literals or at random, each owning
 * all its memory. Every function that takes a column takes it over. What goes wrong here aborts.
 *
 *   struct test_column c = column_strings("s", "u", (const char *[]){"a", NULL, ""}, 3);
 *   struct test_column b = batch_of(&c, 1);   ... b.schema, b.array ...   column_free(&b);
 *
 * valid: a string of '1' and '0', one a row, or NULL for no nulls (a bitmap-free array).
 */
#ifndef TESTS_SUPPORT_ARRAYS_H
#define TESTS_SUPPORT_ARRAYS_H

#include <ashuf/arrow_abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_column {
  struct ArrowSchema schema;
  struct ArrowArray array;
};

void column_free(struct test_column *column);

/* n values of width bytes each; format is the type's, as in "i", "d:38,2", "w:3". */
struct test_column column_fixed(const char *name, const char *format, size_t width,
                                const void *values, const char *valid, int64_t n);
struct test_column column_int32(const char *name, const int32_t *values, const char *valid,
                                int64_t n);
struct test_column column_int64(const char *name, const int64_t *values, const char *valid,
                                int64_t n);
/* values: '1' and '0' */
struct test_column column_bools(const char *name, const char *values, const char *valid);
/* format u, U, z or Z; NULL: null */
struct test_column column_strings(const char *name, const char *format, const char *const *values,
                                  int64_t n);
/* n strings given by n + 1 offsets into bytes; offsets are taken as they are. */
struct test_column column_bytes(const char *name, const char *format, const int64_t *offsets,
                                const void *bytes, const char *valid, int64_t n);
struct test_column column_nulls(const char *name, int64_t n);

/* format vu or vz; views of 16 bytes and n_buffers data buffers are taken as they are. */
struct test_column column_views(const char *name, const char *format, const void *views,
                                const char *valid, int64_t n, const void *const *buffers,
                                const int64_t *sizes, int64_t n_buffers);
/* format +vl or +vL; offsets and sizes are taken as they are. */
struct test_column column_list_view(const char *name, const char *format, const int64_t *offsets,
                                    const int64_t *sizes, const char *valid, int64_t n,
                                    struct test_column child);
/* format +us:... (offsets NULL) or +ud:... */
struct test_column column_union(const char *name, const char *format, const int8_t *type_ids,
                                const int32_t *offsets, int64_t n, struct test_column *children,
                                int64_t n_children);
/* end_format s, i or l; n rows in n_runs runs. */
struct test_column column_runs(const char *name, const char *end_format, const int64_t *ends,
                               int64_t n_runs, int64_t n, struct test_column values);

/* format +l, +L or +m; offsets are taken as they are. */
struct test_column column_list(const char *name, const char *format, const int64_t *offsets,
                               const char *valid, int64_t n, struct test_column child);
/* child has n * size rows. */
struct test_column column_fixed_list(const char *name, int32_t size, const char *valid, int64_t n,
                                     struct test_column child);
struct test_column column_struct(const char *name, const char *valid, int64_t n,
                                 struct test_column *children, int64_t n_children);
/* index_format c C s S i I l L; indices are taken as they are. */
struct test_column column_dictionary(const char *name, const char *index_format,
                                     const int64_t *indices, const char *valid, int64_t n,
                                     struct test_column values);

/* A batch (a struct of no nulls) of columns of one length. Columns get the flag NULLABLE by the
 * builders above; clear it in schema.children[i]->flags where it is not wanted. */
struct test_column batch_of(struct test_column *columns, int64_t n_columns);
/* The same for no columns. */
struct test_column batch_of_nothing(int64_t rows);

/* Makes the array the rows [offset, offset + length) of what it was; null_count becomes -1. */
void column_slice(struct test_column *column, int64_t offset, int64_t length);

/* ---- At random ---------------------------------------------------------------------------- */

/* splitmix64 */
struct test_random {
  uint64_t state;
};
uint64_t random_next(struct test_random *random);
/* In [0, below); below >= 1. */
int64_t random_below(struct test_random *random, int64_t below);

/*
 * A column of a type written as a format, nested ones as
 *   list(T) large_list(T) map(K,V) fixed_list:3(T) struct(T,T,...) dict:c(T) list_view(T)
 *   large_list_view(T) sparse(T,...) dense(T,...) runs:s(T)
 * with garbage under its nulls (bytes, ranges, wild dictionary indices, views and list views).
 * null_percent 0: no bitmaps at all. The arrays stand at random offsets of longer ones.
 */
struct test_column column_random(const char *name, const char *type, struct test_random *random,
                                 int null_percent, int64_t n);
/* A type of every kind that is supported; NULL at the end. */
extern const char *const test_types[];

/* ---- As text ------------------------------------------------------------------------------ */

/* The value of a row by a slow reading of the format that shares nothing with the library:
 * little-endian values as hex, [a,b] lists, {a,b} structs, <type id>a unions, null, values of
 * dictionaries and runs (an array without a dictionary may stand for one that has). The string is
 * malloced. */
char *value_text(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row);

#endif /* TESTS_SUPPORT_ARRAYS_H */
