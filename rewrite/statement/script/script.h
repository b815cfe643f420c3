/*
 * script: a client's text read into its statements: what kind each is, and what names mean to those
 * that stand behind others.
 */
#ifndef RW_SCRIPT_H
#define RW_SCRIPT_H

#include "rewrite/statement/script/shape_cache.h"
#include "rewrite/statement/words/statement.h"

typedef struct rw_script {
    rw_statement *statements; /* empty statements are left out */
    size_t count;
    unsigned effects; /* effects of all statements together */
    bool refused;     /* a statement is REFUSED */
    bool unseen;      /* a statement is `unseen` */
    bool changes;     /* a statement that is no INSERT is sent otherwise than it is written */
    size_t inserts;   /* how many statements are INSERT */
    bool escapes;     /* where its strings end depends on standard_conforming_strings */
    bool utf8;        /* what positions count: characters of UTF-8, or bytes */
} rw_script;

/* Never fails: what cannot be understood is FORWARD or, where it names a configured table and may
 * write it, REFUSED. Memory from `arena`; `text` must live as long.
 * May use libpg_query (below 10,000 tokens and 64 KiB); callers on threads need 64 MiB of stack.
 * `shapes` (NULL: none) remembers what it said: the answers are the same, but come sooner. */
void rw_script_parse(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     rw_shape_cache *shapes, pgw_arena *arena, rw_script *out);

#endif
