/*
 * text: a Query's text that was looked into: its statements, the hashes of its INSERTs' rows, what
 * of it is refused, and the text as the backend is to get it.
 */
#ifndef PX_TEXT_H
#define PX_TEXT_H

#include "proxy/backend/catalog/catalog.h"
#include "rewrite/insert/answers.h"
#include "rewrite/insert/key.h"
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/statement.h"

/* A Query's text, which is counted by references. */
typedef struct px_text {
    unsigned references;
    pgw_arena arena;
    px_catalog *catalog;
    pgw_slice text;
    const rw_filled **filled; /* how each statement was filled with values of its key (NULL: it was
                                 not); NULL: the text is as its client sent it */
    struct px_text *asked;    /* the text as the client sent it, if this one was filled; errors are
                                 told of it. Counted */
    struct px_text *like;     /* The text whose script this one shares, as only constants differ
                                 (px_text_like); NULL: this one was parsed itself. Counted. */
    rw_script script;
    const bool *reshaped; /* a flag for each statement: it writes a table that one before it may
                             change; NULL: none does */
    uint64_t **hashes;    /* hashes of each INSERT's rows; NULL: the statement has none */
    rw_key **keys;        /* keys of each INSERT's rows; NULL: the statement has none */
    size_t *superseded;   /* each statement's rows that a later row of an UPSERT replaces; the tag
                             counts them */
    rw_conditions *conditions; /* what is put into each statement for its lookups */
    bool altered; /* tables may have been altered before this text, and cannot be looked at before
                     Sync */
    bool remembered; /* what a PREPARE keeps will be remembered, so it may have conditions */
    bool executes;   /* some EXECUTE is of a statement that a PREPARE kept with conditions */
    bool moved;      /* the end of the transaction may move names */
    bool in_parts;   /* the rows that are left out of the only statement are committed already */
    const pgw_error **refusals; /* why each statement must fail; NULL: it need not */
    bool refused;               /* some statement is refused */
} px_text;

/* A copy of the text, parsed; the caller has a reference. */
px_text *px_text_parse(px_worker *worker, pgw_slice text, px_catalog *catalog,
                       const rw_catalog *view, const pgw_env *env);
/* A copy of a text that differs from `other`, a lone INSERT, in the constants of its rows alone,
 * and is not read: its script is the other's. The caller has a reference. */
px_text *px_text_like(px_text *other, pgw_slice text);
/* Parses and hashes a text of px_text_like() after all: for what is told of it, or for another
 * form. */
void px_text_read(px_worker *worker, px_text *text, const pgw_env *env);
/* The text itself, counted; or, of a text of px_text_like(), which stays as small as it is, a copy
 * that is read. The caller has a reference. */
px_text *px_text_as_read(px_worker *worker, px_text *text, const pgw_env *env);
/* The text with all wanted cells filled with these answers, parsed anew; the caller has a
 * reference. NULL: the error. */
px_text *px_text_fill(px_worker *worker, px_text *text, const rw_answer *answers,
                      const rw_catalog *view, const pgw_env *env, pgw_error *error);
/* How many of its statements want values of their key that are to be asked for first; which, in
 * `inserts` (NULL: not asked). */
size_t px_text_wants(const px_text *text, const rw_insert **inserts);
/* The statement that wants cell number `wanted` of all. */
size_t px_text_wanting(const px_text *text, size_t wanted);
/* Characters of the client's text in front of statement `i`. */
size_t px_text_before(const px_text *text, size_t i);
/* Statement `i` of a filled text, which was to be filled, is to fail with this error (copied). */
void px_text_unanswered(px_text *text, size_t i, const pgw_error *error);
void px_text_take(px_text *text);
void px_text_drop(px_text *text); /* NULL is fine */
/* The first statement, from 1, that can only be understood when those before it have run; 0: there
 * is none. */
size_t px_text_apart(const px_text *text);
/* Computes the hashes of every INSERT's rows, and refuses what has none; and those of the rows that
 * other statements ask for. */
void px_text_hash(px_worker *worker, px_text *text, pgw_env env);
/* Statement `i` is to fail with this error (copied), unless another was said before. */
void px_text_refuse(px_text *text, size_t i, const pgw_error *error);
/* The first statement that is refused; there is one. */
size_t px_text_first_refused(const px_text *text);
/* What is told should the server meet RW_REFUSAL in statement `i`; NULL: it does not stand there.
 */
const pgw_error *px_text_refusal(const px_text *text, size_t i);
/* Leaves out rows of the only statement, which are committed already; a flag for each row. */
void px_text_leave_out(px_text *text, const bool *rows);
/* Spells what settings decide of keys, as `env` says, for a link whose settings may be others. */
void px_text_spell(px_text *text, const pgw_env *env);
/* The whole text for the own link: each INSERT rewritten, what is refused in a form that must fail,
 * everything else as it was. `sent_at` (NULL: not asked) gets the byte where each statement begins.
 */
void px_text_render(const px_text *text, size_t *sent_at, pgw_buf *out);
/* How many commands statement `i` is on the own link; `own`: which of them, from 0, is the
 * client's. */
size_t px_text_commands(const px_text *text, size_t i, size_t *own);
/* Whether TimeZone may be another after these effects. */
bool px_moves_zone(unsigned effects);

#endif
