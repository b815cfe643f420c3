/*
 * lookup: where a statement asks for rows of a configured table by the whole of their hash key, and
 * the condition on the hash column that is put beside it, so that one partition is looked into.
 */
#ifndef RW_LOOKUP_H
#define RW_LOOKUP_H

#include "rewrite/hash/literal.h"
#include "rewrite/lex/lexer.h"

/* A constant or parameter that a column is compared with. */
typedef struct rw_lookup_cell {
    uint32_t token; /* of the statement, from 0 */
    uint32_t cast;  /* the type that it, or its elements, are cast to; PGW_UNSPECIFIED: none */
} rw_lookup_cell;

typedef struct rw_lookup_place {
    uint32_t table; /* of the catalog, from 0 */
    uint32_t where; /* the token that the condition comes behind: the word WHERE or ON … */
    uint32_t until; /* the last of all that, where it is one OR; 0: it is none */
    bool wrapped;   /* … or the end of a table that a subquery stands in the place of (stars.h) */
    uint32_t keys;  /* how many keys it asks for; 0: those of another table's rows … */
    uint32_t other; /* … of this table of the catalog … */
    uint32_t other_called; /* … where in the map's names it is said what the statement calls it */
    uint32_t cells;        /* its first cell of the map; there are hash_key_count a key */
    uint32_t array;        /* 1 + which of them is an array of values, of an only key; 0: none */
    uint32_t called; /* where in the map's names it is said what the statement calls the table */
    bool bare;       /* it names it without its schema … */
    bool other_bare; /* … or that one */
    uint32_t query;  /* which of the statement's, that are in each other, it belongs to */
    uint32_t name;   /* the token of the table's name, as it stands in the FROM */
} rw_lookup_place;

/* All of a statement's, found in its tree (lookup_tree.h), the same for each text of its shape. No
 * pointers but into itself, so that it can be kept. */
typedef struct rw_lookup_map {
    size_t size; /* bytes, with all that it points to */
    uint32_t place_count, cell_count;
    const rw_lookup_place *places;
    const rw_lookup_cell *cells;
    const char *names;
} rw_lookup_map;

enum {
    RW_LOOKUPS_MAX = 16,        /* of a statement */
    RW_LOOKUP_CELLS_MAX = 4096, /* of all of them */
    RW_LOOKUP_COLUMNS_MAX = 32  /* of a hash key: PostgreSQL's INDEX_MAX_KEYS */
};

/* Of arrays of places, at least one, of cells, and names that end in a NUL; in the arena. */
const rw_lookup_map *rw_lookup_map_make(const pgw_buf *places, const pgw_buf *cells,
                                        const pgw_buf *names, pgw_arena *arena);
/* A copy, freed by free(). */
rw_lookup_map *rw_lookup_map_copy(const rw_lookup_map *map);

/* One of them, in the text. */
typedef struct rw_lookup {
    const rw_table *table;
    const char *called;
    bool bare;             /* its name stands there without its schema */
    size_t at;             /* byte of the statement that the condition comes at … */
    size_t until;          /* … and its end, a parenthesis; 0: without one */
    bool wrapped;          /* without a word WHERE there, and no condition behind */
    size_t keys;           /* how many; 0: those of the rows of … */
    const rw_table *other; /* … this table; else NULL */
    const char *other_called;
    bool other_bare;
    size_t query;   /* of the statement's queries; what is called alike in two may be two tables */
    uint32_t name;  /* the token of the table's name in the statement, from 0 */
    rw_cell *cells; /* hash_key_count a key; constants and parameters */
    size_t *ends;   /* the byte behind each; 0: it is but a part of what is written. NULL:
                       they are not known any more */
    size_t array;   /* 1 + which of them is a parameter that holds an array of values; 0: none */
} rw_lookup;

/* The lookups of a statement, at whose begin the lexer is, that has this map, in order of the text;
 * without those that cannot be read. Allocated in `arena`. */
size_t rw_lookups_read(const rw_lookup_map *map, rw_lexer lexer, const rw_catalog *catalog,
                       const pgw_env *env, pgw_arena *arena, rw_lookup **out);

/* The types of parameters that a client declared. */
typedef struct rw_declared {
    const uint32_t *types;
    size_t count;
} rw_declared;

/* Whether parameter `number`, from 1, has one. */
bool rw_is_declared(rw_declared declared, uint32_t number);

/* A copy in the arena, with all but the table. */
const rw_lookup *rw_lookup_keep(const rw_lookup *lookup, pgw_arena *arena);
/* Whether the comparisons are such that equal values have one hash. `text` (of the statement; no
 * pointer: nothing is prepared): a parameter that is not declared must be used nowhere else. */
PGW_MUST_CHECK bool rw_lookup_takes(const rw_lookup *lookup, pgw_slice text, rw_declared declared);
/* What a parameter without a type gets by being compared there. */
uint32_t rw_lookup_type(const rw_lookup *lookup, size_t cell);
/* Fills in the types that parameters 1…count have by their comparisons, where they have none. */
void rw_lookup_types(const rw_lookup *lookup, uint32_t *types, size_t count);
/* The hash of key `key`, from 0; any, if it holds NULL, which no row equals. Not PGW_KNOWN: nothing
 * must be put in. */
PGW_MUST_CHECK pgw_verdict rw_lookup_hash(const rw_lookup *lookup, size_t key, rw_params params,
                                          const pgw_reading *reading, uint64_t *hash);
/* The same where one of the parameters is an array: the hashes of all its keys, as an array of
 * bigint in text, in the reading's arena. More than RW_LOOKUP_CELLS_MAX are PGW_UNKNOWABLE. */
PGW_MUST_CHECK pgw_verdict rw_lookup_hash_array(const rw_lookup *lookup, rw_params params,
                                                const pgw_reading *reading, pgw_slice *hashes);
/* Adds a constant that TimeZone decides as it is written with its zone; nothing of any other.
 * False: it cannot be written so. Only of lookups that were read, not kept. */
PGW_MUST_CHECK bool rw_lookup_spell(const rw_lookup *lookup, size_t cell,
                                    const pgw_reading *reading, pgw_buf *out);
/* Whether the key holds a parameter. */
bool rw_lookup_is_bound(const rw_lookup *lookup, size_t key);

#endif
