/*
 * define_key: a primary key in the text of a statement that makes or alters a configured table: the
 * hash becomes its first or last column, and `a bigint PRIMARY KEY` becomes `PRIMARY KEY (a, hash)`
 * behind the list of columns. Also what all modules of define/ share: the statement while it is
 * read, its changes, its refusal.
 */
#ifndef RW_DEFINE_KEY_H
#define RW_DEFINE_KEY_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/statement/edit/token_edits.h"

#include <pg_query/pg_query.pb-c.h>

/* A key as it is written. */
typedef struct rw_written_key {
    const PgQuery__Constraint *key; /* NULL: there is none */
    const char *column; /* the column that is defined with the key; NULL: it has a list */
    size_t keys;        /* how many primary keys the statement writes */
} rw_written_key;

/* How a statement is to be written. */
typedef struct rw_definition {
    rw_change *changes; /* changes in the order of the text; in the arena, with their texts */
    size_t count;
    const rw_table *made; /* table of a pattern that is made; in the arena; NULL: none */
    const char *unspread; /* why a table that it makes stays ordinary, though a pattern has its
                             name; NULL: none does */
    unsigned char
        warning;        /* The client is to be warned of that: rw_define_warning(); 0: it is not. */
    pgw_error *refusal; /* the error that is told if the server meets RW_REFUSAL, which is among the
                           changes; in the arena; NULL: it is not */
    pgw_slice before, behind; /* statements that keyspread runs before and behind it, unseen by the
                                 client; empty: none */
} rw_definition;

/* The statement while it is read. */
typedef struct rw_definer {
    pgw_slice text;
    const pgw_env *env;
    const rw_table *table; /* the table that the statement is about */
    pgw_arena *arena;
    rw_definition *out;
    pgw_error *error;
    pgw_slice next; /* The statement that follows in the same transaction; empty: none does, or it
                       is too long. */
    const char *joint; /* separator between a list and what is added to it */
    pgw_buf behind;    /* keys that are moved behind the list, each with a joint before it */
    bool made;         /* the statement makes `table`, with its hash column */
    bool copied; /* the statement makes a copy of another table of its pattern by LIKE, and stays as
                    it is written */
    rw_written_key key; /* the key that the table is made with */
} rw_definer;

/* Adds a hint and a position to the error, and returns false. */
bool rw_define_refuse(rw_definer *it, int32_t location, const char *hint);
/* The hash column's name. */
const char *rw_define_hash(const rw_table *table);
/* Skips up to behind the parenthesis that closes the next one; `before` gets the end of the token
 * before that. */
void rw_define_skip(const rw_definer *it, rw_lexer *lexer, size_t *before);
/* Cuts ONLY before a relation's name, unless the name is in parentheses. */
void rw_define_whole(rw_definer *it, const PgQuery__RangeVar *name);
/* A DO of these blocks of PL/pgSQL, in the arena. */
pgw_slice rw_define_do(const rw_definer *it, pgw_slice blocks);
/* The table that a name means; NULL: none, or a temporary one. */
const rw_table *rw_define_table(const rw_catalog *catalog, const PgQuery__RangeVar *name);
/* The table of the catalog that a name means, if it has a hash; it may have been made earlier in
 * the text. */
const rw_table *rw_define_altered(const rw_catalog *catalog, const PgQuery__RangeVar *name);
/* Whether a name certainly means the table, which may be made earlier in the text. */
bool rw_define_is_sure(const rw_catalog *catalog, const rw_table *table,
                       const PgQuery__RangeVar *name);
/* Puts `text`, which is taken over, in at this byte. */
void rw_define_change(rw_definer *it, size_t at, pgw_buf *text);
/* Cuts the bytes of the text from `from` up to `to`. */
void rw_define_cut(rw_definer *it, size_t from, size_t to);
/* Puts `text`, which is taken over, in right behind a relation's name, before all else that comes
 * there. */
void rw_define_change_name(rw_definer *it, const PgQuery__RangeVar *name, pgw_buf *text);

/* Take the primary key that a constraint is, or that a column's constraints have, if there is one.
 */
void rw_take_key(rw_written_key *out, const PgQuery__Node *node, const char *column);
void rw_take_key_of(rw_written_key *out, const PgQuery__ColumnDef *column);
size_t rw_key_count(const rw_written_key *it);
const char *rw_key_column(const rw_written_key *it, size_t i);
/* How often the key holds the column. */
size_t rw_key_uses(const rw_written_key *it, const char *name);
/* Whether the written key has exactly the columns of primary_key, in any order; for a table with
 * `own_key`: whether it begins with the first column of hash_key. */
bool rw_key_is_right(const rw_table *table, const rw_written_key *written);
/* Puts the hash into the written key; nothing if there is none, or more than one. False: it is
 * another key than the configuration's, and is refused. */
PGW_MUST_CHECK bool rw_define_key(rw_definer *it, const rw_written_key *written);

#endif
