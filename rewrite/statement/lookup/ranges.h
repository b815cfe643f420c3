/*
 * ranges: reads by a range of the key, or in its order, of a table that a store keeps sorted by
 * (bucket, key): what is put into a statement so that the store looks for the range in each bucket
 * instead of reading the whole table.
 */
#ifndef RW_RANGES_H
#define RW_RANGES_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/statement/edit/token_edits.h"

typedef enum rw_range_piece_kind {
    RW_RANGE_TEXT,   /* Bytes of the map. */
    RW_RANGE_TOKENS, /* What the statement says from one token up to another. */
    RW_RANGE_BUCKET, /* The number of the bucket. */
    RW_RANGE_LIMIT   /* How many rows of a bucket are wanted: LIMIT and OFFSET together. */
} rw_range_piece_kind;

typedef struct rw_range_piece {
    rw_range_piece_kind kind;
    uint32_t from, to; /* TEXT: offsets behind the list of pieces; TOKENS: numbers from 0 */
} rw_range_piece;

/* Tokens of the statement, from 0; none if both are equal. */
typedef struct rw_token_span {
    uint32_t from, to;
} rw_token_span;

/* Something that is put in the place of the tokens `at`, or before them if these are none. */
typedef struct rw_range_edit {
    rw_token_span at;
    uint32_t table;         /* The read table's place in the catalog, from 0. */
    uint32_t name;          /* the token of the table's name, as a lookup of it has it */
    uint32_t piece, pieces; /* index of the first piece, and how many pieces the edit has */
    uint32_t branches; /* how many times the pieces are written, in parentheses, joined by UNION
                          ALL, once for each bucket; 0: once, without parentheses */
    rw_token_span limit, offset;
    uint32_t behind, behind_len; /* place in `bytes` of the text behind the parenthesis */
} rw_range_edit;

/* All edits of a statement, found in its tree (ranges_tree.h), the same for each text of its shape.
 * The map has no pointers but into itself, so that it can be kept. */
typedef struct rw_range_map {
    size_t size; /* bytes, with all that it points to */
    uint32_t edit_count, piece_count;
    const rw_range_edit *edits; /* edits in the order of the text */
    const rw_range_piece *pieces;
    const char *bytes;
} rw_range_map;

enum {
    RW_RANGES_MAX = 32,         /* edits of a statement */
    RW_RANGES_BYTES = 8 * 1024, /* The branches of a table are no longer in the text that its shape
                                   was first met in: YDB's documentation has 10 KB for a text. */
    RW_RANGES_LONGEST = 16 * 1024 /* No edit is longer than this, whatever the constants are. */
};

/* Whether a table is kept sorted by (bucket, key), in a store that looks for ranges only where the
 * buckets are named. */
bool rw_table_has_ranges(const rw_table *table);

/* The number of a bucket as a constant of the hash column's type: a store that has to convert one
 * of both does not look for ranges. */
void rw_add_bucket(const rw_table *table, uint32_t bucket, pgw_buf *out);
/* Makes a map, in the arena, of arrays of edits (at least one) and pieces, and of bytes. */
const rw_range_map *rw_range_map_make(const pgw_buf *edits, const pgw_buf *pieces,
                                      const pgw_buf *bytes, pgw_arena *arena);
/* A copy of the map, freed by free(). */
rw_range_map *rw_range_map_copy(const rw_range_map *map);
/* The buckets that a table, whose name begins with this token, is looked for in. `map` NULL, or
 * nothing was put in for the table: 0. */
uint32_t rw_ranges_of(const rw_range_map *map, const rw_catalog *catalog, uint32_t name);
/* What is changed in a statement, at whose begin the lexer is, that has this map: `changes` in the
 * order of the text, behind `count` that are there, with theirs. Allocated in the arena. */
size_t rw_ranges_read(const rw_range_map *map, rw_lexer lexer, const rw_catalog *catalog,
                      pgw_arena *arena, rw_change **changes, size_t count);

#endif
