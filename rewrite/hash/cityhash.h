/*
 * cityhash: CityHash64 as version 1.0 defined it (1.1 changed the results): written from the
 * algorithm's description, with its constants. All arithmetic is modulo 2^64.
 */
#ifndef RW_CITYHASH_H
#define RW_CITYHASH_H

#include "protocol/bytes.h"

uint64_t rw_cityhash64(pgw_slice bytes); /* YQL's Digest::CityHash */

#endif
