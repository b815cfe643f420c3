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
    uint32_t token; /* index of the statement's token */
    uint32_t cast; /* the type that the value, or each element, is cast to; PGW_UNSPECIFIED: none */
} rw_lookup_cell;

typedef struct rw_lookup_place {
    uint32_t table; /* index of the table in the catalog */
    uint32_t where; /* index of the token that the condition is put behind: WHERE, ON, or see
                       `wrapped` */
    uint32_t until; /* index of the last token of the WHERE, if all of it is one OR; 0: it is not */
    bool wrapped;  /* a subquery stands in the table's place (token_edits.h), and the condition goes
                      to its  end */
    uint32_t keys; /* how many keys the conditions ask for; 0: the keys of the rows of `other` */
    uint32_t other;        /* index in the catalog of the table that is joined by its hash key */
    uint32_t other_called; /* offset in the map's names of what the statement calls `other` */
    uint32_t cells;  /* index of the first cell in the map; each key has hash_key_count cells */
    uint32_t array;  /* 1 + the cell of the only key that is an array of values; 0: none is */
    uint32_t called; /* offset in the map's names of what the statement calls the table */
    bool bare;       /* the statement names the table without its schema */
    bool other_bare; /* the statement names `other` without its schema */
    uint32_t query;  /* number of the query, among the nested ones of the statement, that the place
                        is in */
    uint32_t name;   /* index of the token of the table's name in the FROM */
} rw_lookup_place;

/* All lookups of a statement, found in its tree (lookup_tree.h), the same for each text of its
 * shape. The map has no pointers but into itself, so that it can be kept. */
typedef struct rw_lookup_map {
    size_t size; /* bytes, with all that it points to */
    uint32_t place_count, cell_count;
    const rw_lookup_place *places;
    const rw_lookup_cell *cells;
    const char *names;
} rw_lookup_map;

enum {
    RW_LOOKUPS_MAX = 16,        /* lookups of a statement */
    RW_LOOKUP_CELLS_MAX = 4096, /* cells of all lookups of a statement */
    RW_LOOKUP_COLUMNS_MAX = 32  /* columns of a hash key: PostgreSQL's INDEX_MAX_KEYS */
};

/* Makes a map, in the arena, of arrays of places (at least one) and cells, and of names that end in
 * a NUL. */
const rw_lookup_map *rw_lookup_map_make(const pgw_buf *places, const pgw_buf *cells,
                                        const pgw_buf *names, pgw_arena *arena);
/* A copy of the map, freed by free(). */
rw_lookup_map *rw_lookup_map_copy(const rw_lookup_map *map);

/* A lookup in the text of a statement. */
typedef struct rw_lookup {
    const rw_table *table;
    const char *called;
    bool bare;    /* the statement names the table without its schema */
    size_t at;    /* byte of the statement at which the condition is put in */
    size_t until; /* byte at which the parenthesis around the client's condition is closed; 0: it
                     has none */
    bool wrapped; /* the condition brings its own WHERE, and the client's condition is elsewhere */
    size_t keys;  /* how many keys the conditions ask for; 0: the keys of the rows of `other` */
    const rw_table *other; /* the table that is joined by its hash key, if `keys` is 0; else NULL */
    const char *other_called;
    bool other_bare;
    size_t query;   /* number of the query in the statement: one name may mean two tables in two
                       queries */
    uint32_t name;  /* the token of the table's name in the statement, from 0 */
    rw_cell *cells; /* constants and parameters, hash_key_count for each key */
    size_t *ends; /* the byte behind each cell; 0: the cell is only an element of a constant array.
                     NULL: the lookup is a kept copy */
    size_t array; /* 1 + the cell that is a parameter with an array of values; 0: none is */
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

/* Whether parameter `number`, from 1, has a declared type. */
bool rw_is_declared(rw_declared declared, uint32_t number);

/* A copy of the lookup in the arena; the table is shared, and `ends` is NULL. */
const rw_lookup *rw_lookup_keep(const rw_lookup *lookup, pgw_arena *arena);
/* Whether the comparisons are such that equal values have one hash. `text` (of the statement; no
 * pointer: nothing is prepared): a parameter that is not declared must be used nowhere else. */
PGW_MUST_CHECK bool rw_lookup_takes(const rw_lookup *lookup, pgw_slice text, rw_declared declared);
/* The type that a parameter without one gets by the comparison in this cell. */
uint32_t rw_lookup_type(const rw_lookup *lookup, size_t cell);
/* Fills in the types that parameters 1…count have by their comparisons, where they have none. */
void rw_lookup_types(const rw_lookup *lookup, uint32_t *types, size_t count);
/* The hash of key `key`, from 0; any, if it holds NULL, which no row equals. Not PGW_KNOWN: nothing
 * must be put in. */
PGW_MUST_CHECK pgw_verdict rw_lookup_hash(const rw_lookup *lookup, size_t key, rw_params params,
                                          const pgw_reading *reading, uint64_t *hash);
/* Computes the hashes of a lookup with an array parameter, as an array of bigint in text, in the
 * reading's arena. More than RW_LOOKUP_CELLS_MAX elements are PGW_UNKNOWABLE. */
PGW_MUST_CHECK pgw_verdict rw_lookup_hash_array(const rw_lookup *lookup, rw_params params,
                                                const pgw_reading *reading, pgw_slice *hashes);
/* Adds a constant that TimeZone decides as it is written with its zone; nothing of any other.
 * False: it cannot be written so. Only of lookups that were read, not kept. */
PGW_MUST_CHECK bool rw_lookup_spell(const rw_lookup *lookup, size_t cell,
                                    const pgw_reading *reading, pgw_buf *out);
/* Whether the key holds a parameter. */
bool rw_lookup_is_bound(const rw_lookup *lookup, size_t key);

#endif
