/*
 * options: what the fake of YDB's endpoint is told when it starts: where it listens, what stands
 * behind it, and which way it goes where nobody knows what YDB does.
 */
#ifndef YE_OPTIONS_H
#define YE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ye_options {
    const char *listen;      /* HOST:PORT of IPv4 */
    const char *monitoring;  /* HOST:PORT of HTTP; NULL: none */
    const char *store;       /* libpq's connection string of the PostgreSQL that holds the data */
    const char *database;    /* the one there is: an absolute path */
    const char *user;        /* who may come in, with `password`; NULL: anybody, without one */
    const char *password;    /* … */
    const char *certificate; /* PEM; NULL: no TLS, "N" */
    const char *key;         /* … */
    const char *server_version; /* as ParameterStatus has it */
    long idle_ms;               /* silence after which a link is closed */
    long node;                  /* of the cluster: in BackendKeyData */
    const char *tables[16];     /* --table, each for ye_map_add() */
    long request_us;            /* what a request takes of a partition … */
    long row_us;                /* … and each of its rows; 0 and 0: nothing is charged */
    long factor;                /* … of one that touches several partitions: as many times */
    long compile_us_per_kb;     /* of a new text */
    long max_text;              /* bytes of a text; 0: any */
    long max_parameters;        /* 0: any */
    int drop_late;              /* 1: what drops the link is answered with ReadyForQuery first */
    int commit_conflicts;       /* 1: a conflict is told at COMMIT, not at its statement */
    int inferred_parameters;    /* 1: types of parameters are those PostgreSQL finds, not unknown */
    int ddl_ends_transaction;   /* 1: DDL inside of a transaction ends it, to the client's eye */
    int empty_query_silent;     /* 1: Query with an empty text is never answered */
    int refuse_locking;         /* 1: FOR UPDATE is refused, not ignored */
    int uuid_keys;              /* 1: uuid may be a key */
    int away_unavailable;       /* 1: a partition that splits is UNAVAILABLE, not OVERLOADED */
    int plain_describe;         /* 1: the viewer's handler is /viewer/describe, not …/json/… */
    int boundary_values;        /* of int8 in describe: 0 Int64, 1 Text, 2 Bytes */
    int duplicate_constraint;   /* 1: a duplicate is a "Constraint violated", no "Conflict" */
    int refuse_native;          /* 1: tables with an unsigned hash column cannot be written */
    int no_hash_functions;      /* 1: hashint8extended() and its like cannot be called by name */
    int drop_typmods;           /* 1: CREATE TABLE forgets the 20 of varchar(20) */
    int refuse_hint;            /* 1: a hint of another syntax than PostgreSQL's is an error */
} ye_options;

/* Fills in defaults and what the command line says. False, and said on stderr: not understood. */
bool ye_options_read(int argc, char **argv, ye_options *options);

#endif
