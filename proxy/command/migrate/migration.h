/*
 * migration: what all steps of `keyspread migrate` share: the two links to the database, the
 * tables, and the migration's state, which lies in the database's schema `keyspread`, so that a run
 * that was killed goes on where it was.
 */
#ifndef PX_MIGRATION_H
#define PX_MIGRATION_H

#include <libpq-fe.h>

#include "config/config.h"
#include "proxy/command/base/command.h"
#include "rewrite/hash/table.h"

/* How far a migration is; the database has these words in keyspread.migration. */
typedef enum px_phase {
    PX_PHASE_NONE,  /* No migration has begun. */
    PX_PHASE_BEGUN, /* The new tables are being made and filled. */
    PX_PHASE_READY, /* All rows are copied; what changes is caught up. */
    PX_PHASE_CUT,   /* The new tables have the names. */
    PX_PHASE_BACK   /* The old tables have them again; foreign keys are being checked. */
} px_phase;

/* One table that is migrated. All texts are quoted for SQL, and are allocated in the migration's
 * arena. */
typedef struct px_migrated {
    int place; /* The number of the table, from 1, in the names of what is made for it. */
    const rw_table *table; /* What its rows are hashed by. */
    const char *name;      /* schema.table, as clients call it. */
    const char *fresh;     /* schema.table of the new one until the cutover. */
    const char *kept;      /* schema.table of the old one since the cutover. */
    const char *keys;      /* The columns of the primary key, without the hash. */
    const char *key_texts; /* These columns as text. */
    const char *stored;    /* The columns that are copied: all but generated ones. */
    const char *columns;   /* All columns but the hash. */
} px_migrated;

typedef struct px_migration {
    const px_command *command;
    const cfg_config *config;
    const rw_table **tables; /* What the command was asked to migrate; not owned. */
    size_t count;
    unsigned rate;    /* Rows that are copied in a second at most; 0: as fast as it goes. */
    uint64_t max_lag; /* So many bytes a standby may be behind while rows are copied; 0: any. */
    bool decoding;    /* Changes come by logical decoding, not by triggers. */
    char **accepted;  /* Names of what may be lost. */
    size_t accepted_count;
    PGconn *writer,
        *reader; /* The writer owns every transaction; the reader only feeds it with rows. */
    pgw_arena arena;
    px_migrated *migrated;
    size_t migrated_count;
} px_migration;

/* Opens both links and takes the lock that only one command has. False with a message. */
PGW_MUST_CHECK bool px_migration_open(px_migration *it);
void px_migration_close(px_migration *it);

/* Runs the statements of `sql` on the link. False with PostgreSQL's message, and the link is out of
 * any transaction again. */
PGW_MUST_CHECK bool px_migration_do(const px_migration *it, PGconn *link, const char *sql);
/* The same by a format of printf. */
PGW_MUST_CHECK bool px_migration_dof(const px_migration *it, PGconn *link, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The rows of a query, to be freed by PQclear(); NULL with PostgreSQL's message. */
PGresult *px_migration_ask(const px_migration *it, PGconn *link, const char *sql);
PGresult *px_migration_askf(const px_migration *it, PGconn *link, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Runs `sql` in a transaction of its own, again and again while a lock is held by others, for a
 * minute at most: it never waits for a lock longer than 300 ms, so that nobody waits behind it. */
PGW_MUST_CHECK bool px_migration_patiently(const px_migration *it, const char *sql);

/* How far the migration is that the database has. False with a message. */
PGW_MUST_CHECK bool px_migration_phase(const px_migration *it, px_phase *phase);
/* Says that the migration is so far. */
PGW_MUST_CHECK bool px_migration_reach(const px_migration *it, px_phase phase);
/* Appends the statement that says so, without a semicolon. */
void px_migration_add_reach(px_phase phase, pgw_buf *sql);
/* Reads it->migrated and it->decoding from the state. False with a message: also if the migration
 * that is under way is of other tables, or logs by triggers where decoding is asked for. */
PGW_MUST_CHECK bool px_migration_load(px_migration *it);

/* A clock that only goes forward, in seconds. */
double px_migration_now(void);

/* Whether a failed statement can be tried again: somebody held a lock for longer than it waits. */
bool px_migration_was_locked(const PGresult *result);
/* Says it on standard error: "keyspread: migrate: …", with PostgreSQL's message if there is a
 * result. */
void px_migration_say(const px_migration *it, const PGresult *result, const char *what);

#endif
