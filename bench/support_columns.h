/*
 * The batches that are measured: ArrowSchema and ArrowArray of a column mix.
 *
 *   pr           alternating int64 0, 1, 2, ... and utf8 "value_<row>", no nulls
 *   pr-binary    the same with binary
 *   pr-dict      its strings as dictionary<int32, utf8> of 16 values
 *   pr-dict-binary   and as dictionary<int32, binary>
 *   unit         int32, int64, float64, utf8 of 10 bytes, boolean in turn; a tenth null, random
 */
#ifndef BENCH_SUPPORT_COLUMNS_H
#define BENCH_SUPPORT_COLUMNS_H

#include <ashuf/arrow_abi.h>
#include <stdint.h>

enum bench_mix { MIX_PR, MIX_PR_BINARY, MIX_PR_DICT, MIX_PR_DICT_BINARY, MIX_UNIT, MIX_COUNT };

extern const char *const bench_mix_names[MIX_COUNT];

/* variant: schemas of different variants differ in their column names alone. Release both. */
void bench_columns(enum bench_mix mix, int columns, int64_t rows, int variant,
                   struct ArrowSchema *schema, struct ArrowArray *array);

#endif /* BENCH_SUPPORT_COLUMNS_H */
