/*
 * statement: one statement of a client's text, and what the session must know of it: pass it on,
 * rewrite it, refuse it; and what it does to the session.
 */
#ifndef RW_STATEMENT_H
#define RW_STATEMENT_H

#include "rewrite/insert/insert.h"
#include "rewrite/statement/copy/copy_from.h"
#include "rewrite/statement/key/key_change.h"
#include "rewrite/statement/lookup/lookup_render.h"
#include "rewrite/statement/lookup/reads.h"

typedef enum rw_statement_kind {
    RW_STATEMENT_FORWARD, /* passes byte for byte */
    RW_STATEMENT_INSERT,  /* into a configured table: `insert` says how */
    RW_STATEMENT_REFUSED  /* writes a configured table in a way not supported: `error` says why */
} rw_statement_kind;

/* What a statement does to the session; several may be set. */
typedef enum rw_effect {
    RW_EFFECT_SETTINGS = 1 << 0, /* any setting, or the role, may be another: SET ROLE, DO, CALL */
    RW_EFFECT_NAMES = 1 << 1,    /* unqualified names may mean others: search_path, temporary
                                    objects, CREATE, DROP (`makes`: only that name) */
    RW_EFFECT_TRACKED = 1 << 2,  /* SET/RESET of a tracked setting: `setting`, `setting_value` */
    RW_EFFECT_DISCARD_ALL = 1 << 3,
    RW_EFFECT_DEALLOCATE = 1 << 4, /* `name`, empty = ALL */
    RW_EFFECT_PREPARE = 1 << 5,    /* SQL PREPARE: `name` is taken */
    RW_EFFECT_DDL = 1 << 6,        /* the catalog may have changed: CREATE, ALTER, DROP, TRUNCATE */
    RW_EFFECT_STATE = 1 << 7, /* leaves state in the link: LISTEN, DECLARE … WITH HOLD, advisory
                                 locks, settings that are not replayed */
    RW_EFFECT_TRANSACTION = 1 << 8, /* is about transactions: BEGIN, COMMIT, SAVEPOINT */
    RW_EFFECT_COPY = 1 << 9,
    RW_EFFECT_OUTPUT = 1 << 10,  /* SET/RESET of how values are shown, such as bytea_output */
    RW_EFFECT_CALLS = 1 << 11,   /* calls a function that is not known to be harmless */
    RW_EFFECT_RUNS = 1 << 12,    /* may run what the database stores: triggers, defaults, views */
    RW_EFFECT_RESUMES = 1 << 13, /* runs what was declared or prepared before: FETCH, EXECUTE */
    RW_EFFECT_WRITES = 1 << 14,  /* writes rows, which may have drawn from sequences */
    RW_EFFECT_DRAWS = 1 << 15,   /* draws from a sequence, or asks what was drawn: currval */
    RW_EFFECT_RESETS = 1 << 16,  /* a sequence may go on from elsewhere: setval, RESTART */
    RW_EFFECT_READS = 1 << 17,   /* may run what is stored for reads alone: views, operators, casts,
                                    row security */
    RW_EFFECT_RIGHTS = 1 << 18   /* others may find what they had no right to: GRANT, ALTER ROLE */
} rw_effect;

/* Two parameters, from 1, that a statement may be run with only if they have the same value: SET
 * and WHERE give it to a column that the hash is made of. */
typedef struct rw_equal_parameters {
    unsigned short set, where; /* parameter numbers, which may be the same */
    uint32_t type;             /* type of the column, which the parameters may be declared as */
} rw_equal_parameters;

enum { RW_EQUAL_PARAMETERS_MAX = 4 };

typedef struct rw_statement {
    rw_statement_kind kind;
    size_t start, end; /* byte offsets in the text: first token to before the ';' */
    unsigned effects;
    pgw_slice name;          /* arena-owned, as stored (folded) */
    pgw_slice setting;       /* lower case */
    pgw_slice setting_value; /* the constant as text; {NULL,0} for DEFAULT/RESET */
    pgw_slice makes;         /* NAMES: the only name that may mean another; empty: all may */
    pgw_slice path;      /* SET search_path: the schema that is searched first, if that is sure */
    bool setting_simple; /* SET [SESSION] x = one constant: the value above is exact */
    rw_insert *insert;
    const rw_equal_parameters *same; /* FORWARD: parameters that must be equal; arena-owned */
    size_t same_count;               /* no more than RW_EQUAL_PARAMETERS_MAX */
    const rw_lookup *lookups;        /* FORWARD: lookups of the statement; arena-owned */
    size_t lookup_count;
    const rw_read_map *reads; /* How a FORWARD statement reads configured tables; arena-owned; NULL:
                                 it reads none, or is only planned. */
    const rw_change *stars; /* What becomes of the stars of a FORWARD statement, what is put in for
                               its reads by ranges of the key, and what changes the key with its
                               hash, in order of the text; arena-owned. */
    size_t star_count;
    const rw_sql_prepare *prepares; /* what SQL's PREPARE keeps; arena-owned; NULL: it is no
                                       PREPARE, or of unknown types */
    const rw_copy *copy; /* COPY … FROM STDIN of a configured table; arena-owned; NULL: none */
    pgw_slice before, behind; /* FORWARD: one statement that keyspread runs before it and one behind
                                 it, unseen by the client; arena-owned; empty: none */
    const rw_table *made;     /* table of a pattern that it makes; arena-owned; NULL: none */
    const char *unspread;     /* why a table that it makes stays ordinary, though a pattern has its
                                 name; NULL: none does */
    unsigned char warning;    /* The client is to be warned that the table stays ordinary:
                                 rw_define_warning(); 0: it is not. */
    bool defines; /* It makes or alters a configured table, and what is put into it is about the
                     hash column. */
    bool apart; /* an earlier statement of the text may change what this one is: it makes its table,
                   or moves its name */
    bool unseen; /* it may set the key of a configured table that the catalog does not have, or not
                    yet */
    const rw_key_change *change;    /* change of a key, which is in `stars`; NULL: none */
    const rw_key_change *otherwise; /* change of a key for Binds whose `same` differ; NULL: none */
    pgw_error *error; /* REFUSED: why; FORWARD: what is told if the server meets RW_REFUSAL in it,
                         or NULL */
} rw_statement;

/* The statement as it stands in `text`, the whole text. */
static inline pgw_slice rw_statement_text(const rw_statement *statement, pgw_slice text)
{
    return (pgw_slice){text.ptr + statement->start, statement->end - statement->start};
}

/* Whether keyspread runs statements of its own before or behind it. */
static inline bool rw_statement_has_more(const rw_statement *statement)
{
    return statement->before.len > 0 || statement->behind.len > 0;
}

/* Whether a FORWARD statement may be sent otherwise than it is written. */
static inline bool rw_statement_is_changed(const rw_statement *statement)
{
    return statement->lookup_count > 0 || statement->star_count > 0 ||
           statement->otherwise != NULL || rw_statement_has_more(statement);
}

#endif
