/*
 * Columns from the texts of the hash vectors: types bool i8 i16 i32 i64 f32 f64 date ts str bin
 * time null ymi dti cal dec:P list<T> struct<T;T> map<K;V>, values as the vectors spell them.
 */
#ifndef TESTS_SUPPORT_VECTORS_H
#define TESTS_SUPPORT_VECTORS_H

#include "support/arrays.h"

enum vector_layout {
  VECTOR_PLAIN,
  VECTOR_LARGE,     /* 64-bit offsets, decimals of 256 bits */
  VECTOR_DICTIONARY /* strings and numbers behind an index */
};

/* A column of one row; false where the type has no Arrow counterpart. */
bool vector_column(const char *type, const char *value, enum vector_layout layout,
                   struct test_column *out);

#endif /* TESTS_SUPPORT_VECTORS_H */
