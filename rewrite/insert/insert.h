/*
 * insert: INSERT, UPSERT and REPLACE … VALUES into a configured table in a single pass:
 * where the rows are, which cells feed the key, and what may be merged with what.
 * Rendering splices into the client's text and never deparses.
 */
#ifndef RW_INSERT_H
#define RW_INSERT_H

#include "rewrite/hash/literal.h"
#include "rewrite/lex/lexer.h"

/* Why a statement is not batchable, for the counter and for explain. RW_BATCHABLE = it is. */
typedef enum rw_obstacle {
    RW_BATCHABLE,
    RW_OBSTACLE_RETURNING,
    RW_OBSTACLE_SEQUENCE,     /* a sequence is drawn from and the table says sequences: session */
    RW_OBSTACLE_TRIGGER,      /* INSERT triggers, rules or row security */
    RW_OBSTACLE_EXPRESSION,   /* a cell that is more than constants, parameters, casts, short
                                 functions */
    RW_OBSTACLE_UNCOMPUTABLE, /* forwarded without a hash (uncomputable: forward) */
    RW_OBSTACLE_FORM          /* a form that is rewritten but not merged: WITH, OVERRIDING, … */
} rw_obstacle;
const char *rw_obstacle_name(rw_obstacle obstacle); /* "returning", "sequence", … */

typedef enum rw_insert_verb { RW_VERB_INSERT, RW_VERB_UPSERT, RW_VERB_REPLACE } rw_insert_verb;

typedef struct rw_row {
    size_t open, close; /* byte offsets of its '(' and of its matching ')' */
    rw_cell *key;       /* primary_key_count cells, in primary_key order */
    rw_cell hash_cell;  /* what the client itself wrote for the hash column; ABSENT if it did not */
    bool superseded; /* not rendered: a later row of an UPSERT or REPLACE has the same key, or it is
                        stored already */
    bool unhashed;   /* rendered with RW_REFUSAL in the place of its hash */
} rw_row;

typedef struct rw_insert {
    const rw_table *table;
    pgw_slice text; /* of this statement alone, without ';', inside the caller's text */
    rw_insert_verb verb;
    rw_row *rows;
    size_t row_count;
    uint32_t param_count; /* the highest $n */
    bool hash_listed;     /* the client lists the hash column */
    bool list_made;       /* the client lists no columns: the list is ours, of the table as known */
    bool shows;           /* a value may be stored as text that settings of output decide: a cast */
    bool has_conflict;    /* ON CONFLICT, written or (UPSERT, REPLACE) made */
    bool values_merge;    /* rows of several statements may stand in one VALUES list: the count will
                             equal the rows (rules: no ON CONFLICT but DO UPDATE without WHERE, …) */
    bool key_constant;    /* every primary key column is a constant or a parameter in every row */
    rw_obstacle obstacle;
    /* for each parameter 1…param_count: the type its use gives it (the column's, the cast's), or
       PGW_UNSPECIFIED where that cannot be told here */
    uint32_t *inferred;
    struct rw_splice *splices; /* what the renderer puts in; private to insert.c and render.c */
    size_t splice_count;
    size_t returning; /* offset behind the word RETURNING; 0: there is none */
    size_t tail;   /* offset behind the last row's ')': ON CONFLICT, RETURNING, … */
    size_t values; /* offset behind the word VALUES */
    size_t end;    /* offset behind the last token */
    bool utf8;     /* what positions count: its characters, or bytes */
} rw_insert;

/* Parses one statement that begins with INSERT, UPSERT or REPLACE (or WITH before INSERT).
 * `*out` is NULL and true returned if it is none of ours to touch (another table). False: it writes
 * a configured table and must be refused; the error says why (0A000, 23502, 42P10 …) with position.
 * Memory from `arena`; `text` must live as long. */
bool rw_insert_parse(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     pgw_arena *arena, rw_insert **out, pgw_error *error);

/* The keys of one row: values of the primary key columns as stored (key[i] valid where known[i])
 * and the hash. Checks the client's own hash column (22023) and NULLs (23502), where the backend
 * does not reject them itself. PGW_UNKNOWABLE comes
 * with error 0A000 filled (table, column, hint), to be used unless the table forwards. */
typedef struct rw_key {
    uint64_t hash;
    uint32_t partition;
    pgw_value *values; /* primary_key_count */
    bool *known;
    bool all_known;
} rw_key;
PGW_MUST_CHECK pgw_verdict rw_insert_key(const rw_insert *insert, size_t row, rw_params params,
                                         const pgw_reading *reading, rw_key *key);

/* For UPSERT and REPLACE: marks the rows whose key a later row has too (the last one wins), given
 * the row_count keys of the statement; rows whose keys are not all known are left alone. Returns
 * how many are marked: the tag counts them all the same. Nothing for INSERT. */
size_t rw_insert_supersede(rw_insert *insert, const rw_key *keys, pgw_arena *arena);

/* Whether the same statement, parsed when its table may have been another, still returns columns of
 * the same names and types. */
bool rw_insert_returns_same(const rw_insert *before, const rw_insert *now);

/* How many parameters each row has, if the rows differ in nothing but their numbers, which go on
 * from row to row, and none stands outside of the rows; else 0. */
size_t rw_insert_row_width(const rw_insert *insert, const pgw_env *env);

/* What stands in the place of a hash that is not there, and comes to be read as a number: no server
 * stores the row, and the error that it gives in the end (after whatever else it finds) holds this
 * text. */
#define RW_REFUSAL "keyspread refuses this"

/* Whether rows without a hash may be sent to fail like that, so that the server finds first
 * whatever is wrong before, or what is wrong with the key: not where the client wrote the hash
 * itself. */
bool rw_insert_may_fail(const rw_insert *insert);

/* How the hash is written into the text: as decimal constants, or as further parameters
 * $param_count+1 … +row_count (in row order), for Parse. */
typedef enum rw_hash_form { RW_HASH_CONSTANT, RW_HASH_PARAMETER } rw_hash_form;

/* The whole statement with column list, hash cells, conflict target and expanded RETURNING *.
 * `hashes` has row_count entries (NULL with RW_HASH_PARAMETER). Equals insert->text byte for byte
 * when nothing has to be put in (hash_listed and right). */
void rw_render_statement(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                         pgw_buf *out);
/* The bytes that are put in outside of rows: column lists, assignments, an expanded RETURNING. */
size_t rw_render_added(const rw_insert *insert);
/* The three parts of which merged statements are made: head up to and with VALUES, one row
 * "( … , hash)", tail behind the rows (without ';'). A guarded row looks at the columns (guard.h),
 * as the first one of a statement that is rendered whole does. */
void rw_render_head(const rw_insert *insert, pgw_buf *out);
void rw_render_row(const rw_insert *insert, size_t row, uint64_t hash, bool guarded, pgw_buf *out);
void rw_render_tail(const rw_insert *insert, pgw_buf *out);
/* Maps a position (characters, from 1) in the rendered statement back to the client's text: errors
 * point where the client wrote. A position inside something put in maps to where it was put in. */
size_t rw_render_position(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                          size_t position);
/* The same as a byte offset; and whether it is inside of something put in. */
size_t rw_render_offset(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                        size_t position, bool *put_in);

#endif
