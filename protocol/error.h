/*
 * error: what a client is told when something is wrong: SQLSTATE, message, detail, hint, position.
 * keyspread's errors are built here; the server's are read, cut and written again.
 */
#ifndef PGW_ERROR_H
#define PGW_ERROR_H

#include "protocol/bytes.h"

typedef struct pgw_error {
    char sqlstate[6];  /* "" = no error */
    char message[512]; /* cut at the end of the field if longer */
    char detail[512];  /* "" = none */
    char hint[512];    /* "" = none */
    size_t position;   /* characters, from 1, into the client's text; 0 = none */
    bool stale;        /* a prepared statement is outdated: drivers prepare it again */
} pgw_error;

#define PGW_ERROR_NONE ((pgw_error){.sqlstate = ""})
/* Makes `error` PGW_ERROR_NONE, in little time: bytes behind NULs stay as they are. */
void pgw_error_clear(pgw_error *error);

/* Fills `error` (detail, hint and position become empty). Returns false, for `return pgw_fail(…)`.
 * Here and below, what does not fit is cut between two UTF-8 characters. */
bool pgw_fail(pgw_error *error, const char *sqlstate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pgw_error_detail(pgw_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pgw_error_hint(pgw_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Makes it an error as PostgreSQL's of an outdated plan (plancache.c): 0A000 with the name of the
 * routine, by which drivers know that preparing the statement again helps. */
void pgw_error_stale(pgw_error *error);
bool pgw_error_is(const pgw_error *error, const char *sqlstate);

/* Writes a whole ErrorResponse; `severity` is ERROR or FATAL. */
void pgw_error_write(const pgw_error *error, const char *severity, pgw_buf *out);

/* Writes a whole NoticeResponse; `severity` is WARNING or NOTICE. */
void pgw_notice_write(const pgw_error *notice, const char *severity, pgw_buf *out);

/* Writes an error in the form that protocols before 3 know: text alone. */
void pgw_error_write_old(const pgw_error *error, const char *severity, pgw_buf *out);

/* Field `code` ('C', 'M', 'D' …) of an ErrorResponse's or NoticeResponse's body; empty if absent.
 */
pgw_slice pgw_error_field(pgw_slice body, char code);
/* Reads an ErrorResponse's body, cut to what pgw_error holds. One without a SQLSTATE is still an
 * error: it gets XX000. */
void pgw_error_read(pgw_slice body, pgw_error *error);

#endif
