/* Numbers, dates and intervals from their bytes (value.h says how they look). */
#ifndef ASHUF_CLI_SCALAR_H
#define ASHUF_CLI_SCALAR_H

#include "column.h"
#include "text.h"

/* Little-endian integer of 1, 2, 4 or 8 bytes, sign-extended or zero-extended. */
int64_t scalar_signed(const void *bytes, int64_t width);
uint64_t scalar_unsigned(const void *bytes, int64_t width);
/* Of 2, 4 or 8 bytes. */
double scalar_float(const void *bytes, int64_t width);

void scalar_integer(struct text *out, int64_t value);
void scalar_real(struct text *out, double value, int64_t width);
void scalar_decimal(struct text *out, const void *bytes, int64_t width, int32_t scale);
void scalar_date(struct text *out, int64_t days);
void scalar_date64(struct text *out, int64_t millis);
void scalar_time(struct text *out, int64_t value, int digits);
void scalar_timestamp(struct text *out, int64_t value, int digits, const char *zone);
void scalar_duration(struct text *out, int64_t value, int digits);
void scalar_interval(struct text *out, enum kind kind, const void *bytes);
void scalar_hex(struct text *out, const void *bytes, size_t size);

#endif /* ASHUF_CLI_SCALAR_H */
