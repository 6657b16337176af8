/*
 * Every Arrow type as one number, and the table of what follows from it: the one place to look
 * for a type's name, width and buffers.
 */
#ifndef ASHUF_ARROW_TYPE_H
#define ASHUF_ARROW_TYPE_H

#include <stdbool.h>
#include <stdint.h>

enum arrow_type {
  TYPE_NULL,
  TYPE_BOOL,
  TYPE_INT8,
  TYPE_INT16,
  TYPE_INT32,
  TYPE_INT64,
  TYPE_UINT8,
  TYPE_UINT16,
  TYPE_UINT32,
  TYPE_UINT64,
  TYPE_FLOAT16,
  TYPE_FLOAT32,
  TYPE_FLOAT64,
  TYPE_DECIMAL32,
  TYPE_DECIMAL64,
  TYPE_DECIMAL128,
  TYPE_DECIMAL256,
  TYPE_DATE32,
  TYPE_DATE64,
  TYPE_TIME32,
  TYPE_TIME64,
  TYPE_TIMESTAMP,
  TYPE_DURATION,
  TYPE_INTERVAL_MONTHS,
  TYPE_INTERVAL_DAY_TIME,
  TYPE_INTERVAL_MONTH_DAY_NANO,
  TYPE_FIXED_SIZE_BINARY,
  TYPE_BINARY,
  TYPE_LARGE_BINARY,
  TYPE_UTF8,
  TYPE_LARGE_UTF8,
  TYPE_BINARY_VIEW,
  TYPE_UTF8_VIEW,
  TYPE_LIST,
  TYPE_LARGE_LIST,
  TYPE_LIST_VIEW,
  TYPE_LARGE_LIST_VIEW,
  TYPE_FIXED_SIZE_LIST,
  TYPE_STRUCT,
  TYPE_MAP,
  TYPE_SPARSE_UNION,
  TYPE_DENSE_UNION,
  TYPE_RUN_END_ENCODED,
  TYPE_COUNT
};

/* How an array of the type is laid out in buffers (those after the validity bitmap). */
enum arrow_layout {
  LAYOUT_NULL,       /* nothing, no validity either */
  LAYOUT_BITS,       /* one bit a value */
  LAYOUT_FIXED,      /* width bytes a value */
  LAYOUT_BYTES,      /* offsets of width 4 or 8, then bytes */
  LAYOUT_VIEWS,      /* 16-byte views, then any number of data buffers */
  LAYOUT_LIST,       /* offsets of width 4 or 8; one child */
  LAYOUT_LIST_VIEW,  /* offsets, then sizes, of width 4 or 8; one child */
  LAYOUT_FIXED_LIST, /* no buffer; one child of list_size values a slot */
  LAYOUT_STRUCT,     /* no buffer; any number of children */
  LAYOUT_SPARSE,     /* type ids; children as long as the parent; no validity */
  LAYOUT_DENSE,      /* type ids, 32-bit offsets; no validity */
  LAYOUT_RUN_ENDS    /* no buffer, no validity; children run ends and values */
};

enum time_unit { UNIT_SECOND, UNIT_MILLI, UNIT_MICRO, UNIT_NANO };

struct type_info {
  const char *name;
  uint8_t layout;   /* enum arrow_layout */
  uint8_t width;    /* bytes of a value, an offset or a type id; 0: none, or a parameter says */
  uint8_t ipc_type; /* tag of the Type union in Schema.fbs */
  uint8_t buffers;  /* buffers in IPC, the validity bitmap included; views: without data buffers */
  bool validity;    /* whether there is a validity bitmap */
  int32_t children; /* how many a field of the type has; -1: any number */
};

extern const struct type_info type_table[TYPE_COUNT];

/* type < TYPE_COUNT. */
static inline const struct type_info *type_info(enum arrow_type type) { return &type_table[type]; }

static inline bool type_is_nested(enum arrow_type type) { return type >= TYPE_LIST; }
static inline bool type_is_signed_index(enum arrow_type type) {
  return type >= TYPE_INT8 && type <= TYPE_INT64;
}
static inline bool type_is_index(enum arrow_type type) {
  return type >= TYPE_INT8 && type <= TYPE_UINT64;
}

#endif /* ASHUF_ARROW_TYPE_H */
