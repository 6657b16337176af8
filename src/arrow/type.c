#include "arrow/type.h"

#define ANY (-1)

/* clang-format off */
const struct type_info type_table[TYPE_COUNT] = {
    /* name, layout, width, tag, buffers, validity, children */
    [TYPE_NULL]                = {"null",                LAYOUT_NULL,        0,  1, 0, false, 0},
    [TYPE_BOOL]                = {"bool",                LAYOUT_BITS,        0,  6, 2, true, 0},
    [TYPE_INT8]                = {"int8",                LAYOUT_FIXED,       1,  2, 2, true, 0},
    [TYPE_INT16]               = {"int16",               LAYOUT_FIXED,       2,  2, 2, true, 0},
    [TYPE_INT32]               = {"int32",               LAYOUT_FIXED,       4,  2, 2, true, 0},
    [TYPE_INT64]               = {"int64",               LAYOUT_FIXED,       8,  2, 2, true, 0},
    [TYPE_UINT8]               = {"uint8",               LAYOUT_FIXED,       1,  2, 2, true, 0},
    [TYPE_UINT16]              = {"uint16",              LAYOUT_FIXED,       2,  2, 2, true, 0},
    [TYPE_UINT32]              = {"uint32",              LAYOUT_FIXED,       4,  2, 2, true, 0},
    [TYPE_UINT64]              = {"uint64",              LAYOUT_FIXED,       8,  2, 2, true, 0},
    [TYPE_FLOAT16]             = {"float16",             LAYOUT_FIXED,       2,  3, 2, true, 0},
    [TYPE_FLOAT32]             = {"float32",             LAYOUT_FIXED,       4,  3, 2, true, 0},
    [TYPE_FLOAT64]             = {"float64",             LAYOUT_FIXED,       8,  3, 2, true, 0},
    [TYPE_DECIMAL32]           = {"decimal32",           LAYOUT_FIXED,       4,  7, 2, true, 0},
    [TYPE_DECIMAL64]           = {"decimal64",           LAYOUT_FIXED,       8,  7, 2, true, 0},
    [TYPE_DECIMAL128]          = {"decimal128",          LAYOUT_FIXED,      16,  7, 2, true, 0},
    [TYPE_DECIMAL256]          = {"decimal256",          LAYOUT_FIXED,      32,  7, 2, true, 0},
    [TYPE_DATE32]              = {"date32",              LAYOUT_FIXED,       4,  8, 2, true, 0},
    [TYPE_DATE64]              = {"date64",              LAYOUT_FIXED,       8,  8, 2, true, 0},
    [TYPE_TIME32]              = {"time32",              LAYOUT_FIXED,       4,  9, 2, true, 0},
    [TYPE_TIME64]              = {"time64",              LAYOUT_FIXED,       8,  9, 2, true, 0},
    [TYPE_TIMESTAMP]           = {"timestamp",           LAYOUT_FIXED,       8, 10, 2, true, 0},
    [TYPE_DURATION]            = {"duration",            LAYOUT_FIXED,       8, 18, 2, true, 0},
    [TYPE_INTERVAL_MONTHS]     = {"interval_months",     LAYOUT_FIXED,       4, 11, 2, true, 0},
    [TYPE_INTERVAL_DAY_TIME]   = {"interval_day_time",   LAYOUT_FIXED,       8, 11, 2, true, 0},
    [TYPE_INTERVAL_MONTH_DAY_NANO] =
        {"interval_month_day_nano",                      LAYOUT_FIXED,      16, 11, 2, true, 0},
    [TYPE_FIXED_SIZE_BINARY]   = {"fixed_size_binary",   LAYOUT_FIXED,       0, 15, 2, true, 0},
    [TYPE_BINARY]              = {"binary",              LAYOUT_BYTES,       4,  4, 3, true, 0},
    [TYPE_LARGE_BINARY]        = {"large_binary",        LAYOUT_BYTES,       8, 19, 3, true, 0},
    [TYPE_UTF8]                = {"utf8",                LAYOUT_BYTES,       4,  5, 3, true, 0},
    [TYPE_LARGE_UTF8]          = {"large_utf8",          LAYOUT_BYTES,       8, 20, 3, true, 0},
    [TYPE_BINARY_VIEW]         = {"binary_view",         LAYOUT_VIEWS,      16, 23, 2, true, 0},
    [TYPE_UTF8_VIEW]           = {"utf8_view",           LAYOUT_VIEWS,      16, 24, 2, true, 0},
    [TYPE_LIST]                = {"list",                LAYOUT_LIST,        4, 12, 2, true, 1},
    [TYPE_LARGE_LIST]          = {"large_list",          LAYOUT_LIST,        8, 21, 2, true, 1},
    [TYPE_LIST_VIEW]           = {"list_view",           LAYOUT_LIST_VIEW,   4, 25, 3, true, 1},
    [TYPE_LARGE_LIST_VIEW]     = {"large_list_view",     LAYOUT_LIST_VIEW,   8, 26, 3, true, 1},
    [TYPE_FIXED_SIZE_LIST]     = {"fixed_size_list",     LAYOUT_FIXED_LIST,  0, 16, 1, true, 1},
    [TYPE_STRUCT]              = {"struct",              LAYOUT_STRUCT,      0, 13, 1, true, ANY},
    [TYPE_MAP]                 = {"map",                 LAYOUT_LIST,        4, 17, 2, true, 1},
    [TYPE_SPARSE_UNION]        = {"sparse_union",        LAYOUT_SPARSE,      1, 14, 1, false, ANY},
    [TYPE_DENSE_UNION]         = {"dense_union",         LAYOUT_DENSE,       1, 14, 2, false, ANY},
    [TYPE_RUN_END_ENCODED]     = {"run_end_encoded",     LAYOUT_RUN_ENDS,    0, 22, 0, false, 2},
};
/* clang-format on */
