/*
 * What the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput; libFuzzer drives
 * it in a fuzz build (make fuzz), replay.c in the plain tests.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <ashuf/ashuf.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs beyond this are left alone. */
#define FUZZ_MOST_INPUT ((size_t)1 << 20)
/* What an input may decode to. */
#define FUZZ_MOST_OUTPUT ((uint64_t)16 << 20)

/* A copy that ends where memory ends: one byte read too far is a fault. Lives until the next
 * call; NULL where the input is too long. */
uint8_t *fuzz_guard(const uint8_t *data, size_t size);

/* Bytes that the input stood for, decoded: what replay.c measures the time against. */
extern uint64_t fuzz_decoded;

/* A finding that no sanitizer sees: says what, and aborts. */
_Noreturn void fuzz_fail(const char *what);

/* The whole of a decoded batch as text, rows and columns in order, up to a limit; malloced. */
char *fuzz_batch_text(const ashuf_schema *schema, const struct ArrowArray *batch, int64_t rows);

#endif /* FUZZ_FUZZ_H */
