/*
 * The accounted allocator. All memory of the library goes through a memory domain (ashuf_memory,
 * NULL being the process's malloc, uncounted). Frees pass the size, so that no header stands in
 * front of an allocation and exact sizes stay exact.
 *
 * Blocks are aligned to 16, those of memory_aligned to 64. Contents are never zero-filled except
 * by memory_zeroed.
 */
#ifndef ASHUF_BASE_MEMORY_H
#define ASHUF_BASE_MEMORY_H

#include <ashuf/base.h>
#include <stdbool.h>

#define MEMORY_ALIGNMENT 16
#define BODY_ALIGNMENT 64

/* NULL where there is no memory, or where the limit or the host refuses. size 0 gives NULL. */
void *memory_alloc(ashuf_memory *memory, size_t size);
void *memory_zeroed(ashuf_memory *memory, size_t size);
void *memory_aligned(ashuf_memory *memory, size_t size);
/* Takes NULL. */
void memory_free(ashuf_memory *memory, void *pointer, size_t size);
void memory_free_aligned(ashuf_memory *memory, void *pointer, size_t size);
/* A larger block with the first old_size bytes kept; NULL leaves the old one alone. */
void *memory_grow(ashuf_memory *memory, void *pointer, size_t old_size, size_t new_size);

/* Accounts for bytes that a codec library allocated itself; false where the limit refuses. */
bool memory_charge(ashuf_memory *memory, size_t bytes);
void memory_discharge(ashuf_memory *memory, size_t bytes);

/* The domain's limit; 0: none. */
uint64_t memory_limit_of(const ashuf_memory *memory);
/* Whether the domain's limit would refuse size more bytes now. */
bool memory_would_exceed(const ashuf_memory *memory, size_t size);
/* Whether a host has a word in what the domain takes: others may need what is given back. */
bool memory_has_host(const ashuf_memory *memory);
/* Whether size more bytes would be granted now; the host is asked, and they are given back. */
bool memory_is_granted(ashuf_memory *memory, size_t size);
/* Whether the last allocation or charge that failed in this thread was refused by the limit or the
 * host, and not by the allocator. */
bool memory_was_limited(const ashuf_memory *memory);

#endif /* ASHUF_BASE_MEMORY_H */
