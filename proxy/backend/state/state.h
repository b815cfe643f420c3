/*
 * state: one question on a session's own link that says what the session has there: who it is, its
 * tracked settings, and which of the configured tables an unqualified name means. No I/O: the
 * caller sends the question and feeds the one row of its answer.
 */
#ifndef PX_STATE_H
#define PX_STATE_H

#include "protocol/bytes.h"
#include "rewrite/hash/table.h"
#include "rewrite/statement/words/settings.h"

/* What the link answered; the struct owns all it points to. */
typedef struct px_answer {
    char *user, *role;
    char *values[RW_TRACKED];
    char *output;      /* the settings that say how values are shown, as one text */
    char *changed;     /* names of the settings that the session itself changed, a ',' behind each;
                          NULL: not asked for */
    rw_meaning *names; /* what the unqualified name of each table asked for means */
    rw_meaning *made;  /* what a table made by the unqualified name of each would be */
    char *here; /* the schema where a table without a written one is made; "": none, or not asked
                   for */
    size_t count;
    uint32_t *oids; /* oids of the last `oid_count` tables, ascending; set by the asker */
    uint32_t oid_count;
    rw_own_word says[RW_OWN_SETTINGS]; /* values of keyspread's own settings */
} px_answer;

/* What is asked for: tables and patterns of the configuration by name, and tables that only a
 * pattern covers by oid, any number of them. */
typedef struct px_asked {
    const rw_catalog *names;
    const uint32_t *oids; /* oids of tables that only a pattern covers, ascending */
    size_t oid_count;
    bool inside; /* inside a transaction, which may be older than the tables */
} px_asked;

/* Appends one SELECT, without ';'. With `everything` it tells `changed`, which takes PostgreSQL 1
 * ms. Only what is asked for depends on the session's search_path. */
void px_state_question(const px_asked *asked, bool everything, pgw_buf *sql);
/* What a backend without a catalog knows of its session. */
typedef struct px_state_source {
    const char *(*setting)(void *data, const char *name); /* "" for what it does not know */
    void *data;
    pgw_slice own;     /* values of keyspread's own settings in the order of rw_own, a ',' between
                          two */
    pgw_slice changed; /* has the form of px_answer.changed */
} px_state_source;

/* Whether a text is such a question, how many cells its answer has, and the answer of a backend
 * without a catalog, where all names mean what the file says: appends a RowDescription's body to
 * `columns`, and fills px_state_cells() cells, which are the source's own bytes. */
bool px_state_is_question(pgw_slice text);
size_t px_state_cells(pgw_slice text);
void px_state_answer(pgw_slice text, const px_state_source *source, pgw_buf *columns,
                     pgw_slice *cells);
/* Reads the body of the answer's DataRow; `named` and `oids` are how many tables were asked for by
 * name and by oid. Does not set out->oids. False if the row cannot be read. */
PGW_MUST_CHECK bool px_answer_read(pgw_slice body, size_t named, size_t oids, bool everything,
                                   px_answer *out);
void px_answer_free(px_answer *answer);
/* Makes `copy`, which is empty, equal to `answer`. */
void px_answer_copy(const px_answer *answer, px_answer *copy);

/* The first setting of `changed` that is not tracked and has influence on what is stored; {NULL,
 * 0}: there is none. */
pgw_slice px_answer_odd(const px_answer *answer);
/* Whether `name` is among `changed`. */
bool px_answer_has_changed(const px_answer *answer, const char *name);

#endif
