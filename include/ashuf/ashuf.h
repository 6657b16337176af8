/*
 * ashuf: Apache DataFusion Comet's shuffle blocks and shuffle files, in C.
 *
 *   base.h        status codes, errors, memory, bytes
 *   arrow_abi.h   the structs of the Arrow C Data and C Stream Interfaces
 *   block.h       contexts, schemas, decode and encode one block
 *   partition.h   which partition a row belongs to
 *   shuffle.h     map outputs: write one, look into one, read many
 *   ipc.h         Arrow IPC files and streams in and out
 */
#ifndef ASHUF_ASHUF_H
#define ASHUF_ASHUF_H

#include <ashuf/arrow_abi.h>
#include <ashuf/base.h>
#include <ashuf/block.h>
#include <ashuf/ipc.h>
#include <ashuf/partition.h>
#include <ashuf/shuffle.h>

#endif /* ASHUF_ASHUF_H */
