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
    RW_EFFECT_SETTINGS =
        1 << 0,               /* any setting, or the role, may be another: SET ROLE, DO, CALL … */
    RW_EFFECT_NAMES = 1 << 1, /* unqualified names may mean others: search_path, temporary
                                 objects, CREATE, DROP (`makes`: only that name) */
    RW_EFFECT_TRACKED = 1 << 2, /* SET/RESET of a tracked setting: `setting`, `setting_value` */
    RW_EFFECT_DISCARD_ALL = 1 << 3,
    RW_EFFECT_DEALLOCATE = 1 << 4, /* `name`, empty = ALL */
    RW_EFFECT_PREPARE = 1 << 5,    /* SQL PREPARE: `name` is taken */
    RW_EFFECT_DDL = 1 << 6,   /* CREATE, ALTER, DROP, TRUNCATE, …: the catalog may have changed */
    RW_EFFECT_STATE = 1 << 7, /* leaves state in the link: LISTEN, DECLARE … WITH HOLD, advisory
                                 locks, settings that are not replayed, … */
    RW_EFFECT_TRANSACTION = 1 << 8, /* BEGIN, START, COMMIT, END, ROLLBACK, SAVEPOINT, … */
    RW_EFFECT_COPY = 1 << 9,
    RW_EFFECT_OUTPUT = 1 << 10,  /* SET/RESET of how values are shown: bytea_output … */
    RW_EFFECT_CALLS = 1 << 11,   /* calls a function that is not known to be harmless */
    RW_EFFECT_RUNS = 1 << 12,    /* may run what the database stores: triggers, defaults, views */
    RW_EFFECT_RESUMES = 1 << 13, /* runs what was declared or prepared before: FETCH, EXECUTE */
    RW_EFFECT_WRITES = 1 << 14,  /* rows of tables: their sequences may have been drawn from */
    RW_EFFECT_DRAWS = 1 << 15,   /* draws from a sequence, or asks what was drawn: currval */
    RW_EFFECT_RESETS = 1 << 16,  /* a sequence may go on from elsewhere: setval, RESTART */
    RW_EFFECT_READS = 1 << 17,   /* may run what is stored for reads alone: views, operators, casts,
                                    row security */
    RW_EFFECT_RIGHTS = 1 << 18   /* others may find what they had no right to: GRANT, ALTER ROLE */
} rw_effect;

/* Two parameters, from 1, that a statement may be run with only if they have the same value: SET
 * and WHERE give it to a column that the hash is made of. */
typedef struct rw_same {
    unsigned short set, where; /* may be one */
    uint32_t type;             /* the column's: what they may be declared as, if they are */
} rw_same;

enum { RW_SAME_MAX = 4 };

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
    const rw_same *same; /* of FORWARD; arena-owned, at most RW_SAME_MAX */
    size_t same_count;
    const rw_lookup *lookups; /* of FORWARD; arena-owned */
    size_t lookup_count;
    const rw_read_map *reads; /* How a FORWARD statement reads configured tables; arena-owned; NULL:
                                 it reads none, or is only planned. */
    const rw_change *stars; /* What becomes of the stars of a FORWARD statement, what is put in for
                               its reads by ranges of the key, and what changes the key with its
                               hash, in order of the text; arena-owned. */
    size_t star_count;
    const rw_sql_prepare *prepares; /* arena-owned; NULL: it is no PREPARE, or of unknown types */
    const rw_copy
        *copy; /* a COPY … FROM STDIN of a configured table; arena-owned; NULL: it is none */
    pgw_slice before, behind; /* statements of ours that are run with it, unseen: of FORWARD, one
                                 each; empty: none. Arena-owned */
    const rw_table *made;     /* by it, of a pattern; arena-owned; NULL: none */
    const char *unspread;  /* why what it makes is none of these, though it has such a name; NULL */
    unsigned char warning; /* The client is to be warned that the table stays ordinary:
                              rw_define_warning(); 0: it is not. */
    bool defines; /* It makes or alters a configured table, whose hash column is what is put into
                     it. */
    bool apart;  /* what it is may be another behind those before it: what makes its table, or moves
                    its name */
    bool unseen; /* it may set the key of a table of the configuration that the catalog has not, or
                    not yet */
    const rw_key_change *change; /* Of the key: it must not be sent without. NULL: none. */
    const rw_key_change
        *otherwise;   /* The same, but for a Bind for which `same` holds. NULL: none. */
    pgw_error *error; /* of FORWARD: what is told should the server meet RW_REFUSAL in it; NULL */
} rw_statement;

/* As it stands in the text that it is one of. */
static inline pgw_slice rw_statement_text(const rw_statement *statement, pgw_slice text)
{
    return (pgw_slice){text.ptr + statement->start, statement->end - statement->start};
}

/* Whether something of ours is run with it. */
static inline bool rw_statement_has_more(const rw_statement *statement)
{
    return statement->before.len > 0 || statement->behind.len > 0;
}

/* Whether something may be put into it, of what passes otherwise. */
static inline bool rw_statement_is_changed(const rw_statement *statement)
{
    return statement->lookup_count > 0 || statement->star_count > 0 ||
           statement->otherwise != NULL || rw_statement_has_more(statement);
}

#endif
