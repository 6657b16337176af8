/*
 * Values as text. Plain text is what csv and box show; nested values are JSON in both.
 *
 *   bool            true, false
 *   integers        decimal
 *   floats          the shortest decimal that reads back as the same value; NaN, Infinity
 *   decimals        all digits of the scale
 *   dates, times    2024-02-29, 23:59:59.123456, 2024-02-29T23:59:59.123456; a timestamp with a
 *                   zone is its UTC instant: ...Z, or ...Z[Europe/Berlin] where the zone is not UTC
 *   durations       PT90.5S with the digits of the unit; intervals P14M, P3DT0.250S, P1M2DT...S
 *   binary          lower case hex
 *   list, struct    JSON array, object; map: array of {"key": ..., "value": ...}
 *   dictionary, run-end encoded, union: the value meant
 */
#ifndef ASHUF_CLI_VALUE_H
#define ASHUF_CLI_VALUE_H

#include "column.h"
#include "text.h"

bool value_is_null(const struct column *column, const struct ArrowArray *array, int64_t row);
/* Appends a value; nothing for a null. */
void value_text(struct text *out, const struct column *column, const struct ArrowArray *array,
                int64_t row);
/* Appends a value as JSON: null, a number, true, an array, an object, else a string. */
void value_json(struct text *out, const struct column *column, const struct ArrowArray *array,
                int64_t row);
/* Appends {"name":value,...} of all children of a struct array. */
void value_json_object(struct text *out, const struct column *column,
                       const struct ArrowArray *array, int64_t row);

#endif /* ASHUF_CLI_VALUE_H */
