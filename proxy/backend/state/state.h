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

/* What the link answered; all owned. */
typedef struct px_answer {
    char *user, *role;
    char *values[RW_TRACKED];
    char *output;  /* the settings of how values are shown, all in one */
    char *changed; /* names of settings that the session itself changed, a ',' behind each; NULL:
                      was not asked for */
    rw_meaning *names; /* one a table of the catalog */
    rw_meaning *made;  /* … and what one would be that is made by the name */
    size_t count;
    uint32_t *oids; /* of the last `oid_count` of them, ascending; put in by who asked */
    uint32_t oid_count;
    rw_own_word says[RW_OWN_SETTINGS]; /* what settings of keyspread's own are set to */
} px_answer;

/* What is asked for: tables and patterns by their names, and what only a pattern names by its oid,
 * however many those are. */
typedef struct px_asked {
    const rw_catalog *names;
    const uint32_t *oids; /* ascending */
    size_t oid_count;
    bool inside; /* of a transaction, which may have begun before others made what is asked for */
} px_asked;

/* Appends one SELECT, without ';'. With `everything` it tells `changed`, which takes PostgreSQL
 * 1 ms. Nothing in it depends on the session's search_path but what is asked. */
void px_state_question(const px_asked *asked, bool everything, pgw_buf *sql);
/* Whether a text is such a question; and the answer to it of a backend that has nothing but
 * settings, where all names mean what the file says: appends a RowDescription's body to `columns`,
 * and fills px_state_cells() cells, which are the settings' own bytes. `setting` gives "" for what
 * it does not know; `changed` has the form of px_answer's. */
bool px_state_is_question(pgw_slice text);
size_t px_state_cells(pgw_slice text);
void px_state_answer(pgw_slice text, const char *(*setting)(void *data, const char *name),
                     void *data, pgw_slice changed, pgw_buf *columns, pgw_slice *cells);
/* Reads a DataRow's body, for as many tables as were asked for by their names, and by their oids,
 * which are not put in; false if it cannot be. */
PGW_MUST_CHECK bool px_answer_read(pgw_slice body, size_t named, size_t oids, bool everything,
                                   px_answer *out);
void px_answer_free(px_answer *answer);
/* Makes `copy`, which is empty, equal to `answer`. */
void px_answer_copy(const px_answer *answer, px_answer *copy);

/* The settings of `changed` that are neither tracked nor without influence on what is stored: the
 * first, or {NULL, 0}. */
pgw_slice px_answer_odd(const px_answer *answer);
/* Whether `name` is among `changed`. */
bool px_answer_has_changed(const px_answer *answer, const char *name);

#endif
