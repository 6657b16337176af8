#include "scalar.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_SECONDS INT64_C(86400)
#define LIMBS 8 /* of 32 bits: 256 bits */

uint64_t scalar_unsigned(const void *bytes, int64_t width) {
  uint64_t value = 0;
  memcpy(&value, bytes, width < 8 ? (size_t)width : 8);
  return value;
}

int64_t scalar_signed(const void *bytes, int64_t width) {
  uint64_t value = scalar_unsigned(bytes, width);
  unsigned shift = width < 8 ? 64 - 8 * (unsigned)width : 0;
  return (int64_t)(value << shift) >> shift;
}

static double half(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double mantissa = bits & 1023;
  double value;
  if (exponent == 31)
    value = mantissa != 0 ? (double)NAN : (double)INFINITY;
  else
    value = exponent == 0 ? ldexp(mantissa, -24) : ldexp(mantissa + 1024, exponent - 25);
  return bits >> 15 != 0 ? -value : value;
}

double scalar_float(const void *bytes, int64_t width) {
  if (width == 2) return half((uint16_t)scalar_unsigned(bytes, 2));
  if (width == 4) {
    float value;
    memcpy(&value, bytes, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

void scalar_integer(struct text *out, int64_t value) {
  char digits[24];
  size_t at = sizeof digits;
  uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    digits[--at] = (char)('0' + left % 10);
    left /= 10;
  } while (left != 0);
  if (value < 0) digits[--at] = '-';
  text_add(out, digits + at, sizeof digits - at);
}

/*
 * Most doubles in tables have few decimals. value = number / 10^k with both exact in a double
 * means that the decimal reads back as value, since division rounds correctly, as reading does;
 * and of at most 15 digits there is only one such decimal. Returns false where this one is not.
 */
static bool short_decimal(struct text *out, double value) {
  static const double powers[] = {1, 10, 100, 1000, 10000};
  double size = fabs(value);
  if (!(size >= 1e-4 && size < 1e10)) return false;
  for (int k = 0; k < 5; k++) {
    double number = nearbyint(size * powers[k]);
    if (number / powers[k] != size) continue;
    int64_t whole = (int64_t)number / (int64_t)powers[k];
    int64_t rest = (int64_t)number % (int64_t)powers[k];
    if (value < 0) text_char(out, '-');
    scalar_integer(out, whole);
    text_printf(out, ".%0*" PRId64, k == 0 ? 1 : k, rest);
    return true;
  }
  return false;
}

/* Fewer digits than precision are printed where the rest are zeros, so few tries are enough. */
static void shortest(char *out, size_t size, double value, bool narrow) {
  bool tiny = fabs(value) < (narrow ? (double)FLT_MIN : DBL_MIN);
  int most = narrow ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
  int least = narrow ? FLT_DIG : DBL_DIG;
  for (int precision = tiny ? 1 : least; precision <= most; precision++) {
    (void)snprintf(out, size, "%.*g", precision, value);
    if (narrow ? strtof(out, NULL) == (float)value : strtod(out, NULL) == value) return;
  }
}

void scalar_real(struct text *out, double value, int64_t width) {
  char digits[40];
  if (isnan(value)) {
    text_puts(out, "NaN");
  } else if (isinf(value)) {
    text_puts(out, value < 0 ? "-Infinity" : "Infinity");
  } else {
    if (width == 8 && short_decimal(out, value)) return;
    shortest(digits, sizeof digits, value, width < 8);
    text_puts(out, digits);
    if (strpbrk(digits, ".e") == NULL) text_puts(out, ".0");
  }
}

/* Two's complement to sign and magnitude. */
static bool magnitude(uint32_t limbs[LIMBS], const void *bytes, int64_t width) {
  size_t n = (size_t)width / 4 < LIMBS ? (size_t)width / 4 : LIMBS;
  memset(limbs, 0, LIMBS * sizeof *limbs);
  memcpy(limbs, bytes, n * sizeof *limbs);
  if (limbs[n - 1] >> 31 == 0) return false;
  uint64_t carry = 1;
  for (size_t i = 0; i < n; i++) {
    carry += (uint32_t)~limbs[i];
    limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return true;
}

/* Divides by 10^9 and returns the rest. */
static uint32_t next_digits(uint32_t limbs[LIMBS]) {
  uint64_t rest = 0;
  for (size_t i = LIMBS; i-- > 0;) {
    rest = rest << 32 | limbs[i];
    limbs[i] = (uint32_t)(rest / 1000000000u);
    rest %= 1000000000u;
  }
  return (uint32_t)rest;
}

static bool is_zero(const uint32_t limbs[LIMBS]) {
  for (size_t i = 0; i < LIMBS; i++)
    if (limbs[i] != 0) return false;
  return true;
}

/* Digits into the end of out[0, size); returns where they start. */
static size_t all_digits(char *out, size_t size, uint32_t limbs[LIMBS]) {
  size_t at = size;
  do {
    uint32_t group = next_digits(limbs);
    for (int i = 0; i < 9; i++) {
      out[--at] = (char)('0' + group % 10);
      group /= 10;
    }
  } while (!is_zero(limbs));
  while (at + 1 < size && out[at] == '0') at++;
  return at;
}

static void add_zeros(struct text *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) text_char(out, '0');
}

void scalar_decimal(struct text *out, const void *bytes, int64_t width, int32_t scale) {
  uint32_t limbs[LIMBS];
  char digits[9 * 10];
  if (magnitude(limbs, bytes, width)) text_char(out, '-');
  size_t start = all_digits(digits, sizeof digits, limbs);
  int64_t n = (int64_t)(sizeof digits - start);
  bool zero = n == 1 && digits[start] == '0';
  if (scale <= 0) {
    text_add(out, digits + start, (size_t)n);
    if (!zero) add_zeros(out, -(int64_t)scale);
  } else if (n > scale) {
    text_add(out, digits + start, (size_t)(n - scale));
    text_char(out, '.');
    text_add(out, digits + sizeof digits - scale, (size_t)scale);
  } else {
    text_puts(out, "0.");
    add_zeros(out, scale - n);
    text_add(out, digits + start, (size_t)n);
  }
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Days since 1970-01-01 to the proleptic Gregorian calendar, by eras of 400 years. */
void scalar_date(struct text *out, int64_t days) {
  int64_t shifted = days + 719468; /* since 0000-03-01 */
  int64_t era = floor_divide(shifted, 146097);
  int64_t day_of_era = shifted - era * 146097;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t month_index = (5 * day_of_year + 2) / 153; /* 0 is March */
  int64_t day = day_of_year - (153 * month_index + 2) / 5 + 1;
  int64_t month = month_index < 10 ? month_index + 3 : month_index - 9;
  int64_t year = year_of_era + era * 400 + (month <= 2);
  const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  text_printf(out, "%s%04" PRId64 "-%02d-%02d", sign, year < 0 ? -year : year, (int)month,
              (int)day);
}

static int64_t power(int digits) {
  return digits == 0 ? 1 : digits == 3 ? 1000 : digits == 6 ? 1000000 : 1000000000;
}

static void add_fraction(struct text *out, int64_t fraction, int digits) {
  if (digits > 0) text_printf(out, ".%0*" PRId64, digits, fraction);
}

/* value in [0, ...): seconds of the day and a fraction. */
static void add_clock(struct text *out, int64_t seconds, int64_t fraction, int digits) {
  text_printf(out, "%02" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
              (int)(seconds % 60));
  add_fraction(out, fraction, digits);
}

void scalar_time(struct text *out, int64_t value, int digits) {
  int64_t unit = power(digits);
  int64_t seconds = value / unit;
  int64_t fraction = value % unit;
  if (value < 0) text_char(out, '-');
  add_clock(out, seconds < 0 ? -seconds : seconds, fraction < 0 ? -fraction : fraction, digits);
}

void scalar_timestamp(struct text *out, int64_t value, int digits, const char *zone) {
  int64_t unit = power(digits);
  int64_t seconds = floor_divide(value, unit);
  int64_t fraction = value - seconds * unit;
  int64_t days = floor_divide(seconds, DAY_SECONDS);
  scalar_date(out, days);
  text_char(out, 'T');
  add_clock(out, seconds - days * DAY_SECONDS, fraction, digits);
  if (zone == NULL) return;
  text_char(out, 'Z');
  if (strcmp(zone, "UTC") == 0 || strcmp(zone, "Z") == 0 || strcmp(zone, "+00:00") == 0) return;
  text_char(out, '[');
  for (; *zone != '\0'; zone++) /* ASCII, so that it may stand in JSON */
    text_char(out, *zone > ' ' && *zone < 0x7f && *zone != '"' && *zone != '\\' ? *zone : '?');
  text_char(out, ']');
}

void scalar_date64(struct text *out, int64_t millis) {
  if (millis % (DAY_SECONDS * 1000) == 0)
    scalar_date(out, millis / (DAY_SECONDS * 1000));
  else
    scalar_timestamp(out, millis, 3, NULL);
}

static void add_seconds(struct text *out, int64_t value, int digits) {
  int64_t unit = power(digits);
  int64_t fraction = value % unit;
  if (value < 0) text_char(out, '-');
  uint64_t whole = value < 0 ? 0 - (uint64_t)(value / unit) : (uint64_t)(value / unit);
  text_printf(out, "%" PRIu64, whole);
  add_fraction(out, fraction < 0 ? -fraction : fraction, digits);
  text_char(out, 'S');
}

void scalar_duration(struct text *out, int64_t value, int digits) {
  text_puts(out, "PT");
  add_seconds(out, value, digits);
}

void scalar_interval(struct text *out, enum kind kind, const void *bytes) {
  const char *at = bytes;
  if (kind == KIND_INTERVAL_MONTHS) {
    text_printf(out, "P%" PRId64 "M", scalar_signed(at, 4));
  } else if (kind == KIND_INTERVAL_DAY_TIME) {
    text_printf(out, "P%" PRId64 "DT", scalar_signed(at, 4));
    add_seconds(out, scalar_signed(at + 4, 4), 3);
  } else {
    text_printf(out, "P%" PRId64 "M%" PRId64 "DT", scalar_signed(at, 4), scalar_signed(at + 4, 4));
    add_seconds(out, scalar_signed(at + 8, 8), 9);
  }
}

void scalar_hex(struct text *out, const void *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *in = bytes;
  for (size_t i = 0; i < size; i++) {
    const char pair[2] = {digits[in[i] >> 4], digits[in[i] & 15]};
    text_add(out, pair, 2);
  }
}
