/*
 * tree: PostgreSQL's own grammar (libpg_query) asked whether a statement may write a configured
 * table without its right hash. Off the hot path: tens of microseconds a statement.
 */
#ifndef RW_TREE_H
#define RW_TREE_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/splitter.h"
#include "rewrite/statement/copy/copy_from.h"
#include "rewrite/statement/define/define_tree.h"
#include "rewrite/statement/key/key_change.h"
#include "rewrite/statement/lookup/lookup.h"
#include "rewrite/statement/lookup/ranges.h"
#include "rewrite/statement/lookup/reads.h"
#include "rewrite/statement/words/statement.h"

/* Larger texts never reach libpg_query: its recursion needs stack in proportion. */
enum { RW_TREE_MAX_BYTES = 65536, RW_TREE_MAX_TOKENS = 10000 };

typedef enum rw_tree_answer {
    RW_TREE_HARMLESS,
    RW_TREE_REFUSED, /* it may write a wrong hash, or names a hidden column; the error is filled */
    RW_TREE_UNPARSED /* PostgreSQL's grammar refuses it, or it is more than one statement; the error
                        is filled with what PostgreSQL would say (42601) */
} rw_tree_answer;

/* What is known of a statement that is harmless, or was denied. */
typedef struct rw_tree_found {
    bool inserts;  /* it is an INSERT into a configured table */
    bool by_value; /* constants or parameters decide: other texts of its shape may differ */
    rw_equal_parameters same[RW_EQUAL_PARAMETERS_MAX]; /* pairs of parameters that must be equal for
                                                          it to be harmless */
    size_t same_count;
    rw_key_change change; /* the change of a key, with which it is harmless; by_value is set */
    const rw_lookup_map *lookups; /* rows that it asks for by their hash key; NULL: none */
    const rw_token_edits *stars;  /* what it shows of a hash column; NULL: nothing */
    const rw_range_map *ranges; /* What is put in for reads by ranges of the key; NULL: nothing. */
    const rw_read_map *reads;   /* how it reads configured tables; NULL: it reads none */
    const rw_sql_prepare *prepares; /* NULL: it is no PREPARE, or one of unknown types */
    const rw_copy *copy; /* a COPY … FROM STDIN of a configured table; NULL: it is none */
    bool unseen;         /* it may set the key of a table that the catalog does not have */
    bool denied;         /* refused for how it names columns, whether it writes or not */
} rw_tree_found;

/* Whether libpg_query can be asked. */
PGW_MUST_CHECK bool rw_tree_can_read(pgw_slice text, const rw_piece *piece);

/* Whether PostgreSQL's lexer or grammar refuses this text, whole. False where it cannot be asked,
 * where the server is newer than the grammar, and of texts with words that are keyspread's (UPSERT,
 * REPLACE). */
PGW_MUST_CHECK bool rw_tree_rejects(pgw_slice text, const pgw_env *env);

/* Looks at one statement, for which rw_tree_can_read() was true. An INSERT (UPSERT, REPLACE) that
 * is the statement itself counts as harmless: rewrite/insert/insert.h decides about it. Needs up to
 * 64 MiB of stack. */
PGW_MUST_CHECK rw_tree_answer rw_tree_check(pgw_slice text, const rw_catalog *catalog,
                                            const pgw_env *env, pgw_arena *arena,
                                            rw_tree_found *found, pgw_error *error);

/* What becomes of a CREATE TABLE or ALTER TABLE of a configured table, of which rw_tree_can_read()
 * was true. `next` is the statement behind it in the same Query, of which that was true as well, or
 * empty; nothing of other statements, nor of what PostgreSQL's grammar refuses. False: refused,
 * and the reading's error is filled. Needs as much stack. */
PGW_MUST_CHECK bool rw_tree_define(pgw_slice text, pgw_slice next, const rw_catalog *catalog,
                                   const pgw_reading *reading, rw_definition *out);

#endif
