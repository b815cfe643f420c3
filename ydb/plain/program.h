/*
 * program: what one statement of PostgreSQL takes on YDB: texts that are run one after the other,
 * in one transaction if there are several; what becomes of their rows; and the tag.
 */
#ifndef RW_PROGRAM_H
#define RW_PROGRAM_H

#include "rewrite/hash/table.h"
#include "ydb/plain/step.h"

typedef struct rw_program rw_program;

/* Plans one statement, clean (clean.h), its parameters already constants (inline.h). The text must
 * live as long as the program, and so must options->env; the catalog need not. NULL: the statement
 * cannot be done, and the error is filled (0A000 and others, with a position in the text). Takes no
 * more stack than any function; INSERT … VALUES may be of any length. */
rw_program *rw_program_new(pgw_slice text, const rw_catalog *catalog,
                           const rw_program_options *options, pgw_error *error);
/* Makes a program of texts, which each write rows, in this order; the tag is `tag` and the number
 * of rows. The `count` texts, in memory of pgw_alloc(), become the program's. */
rw_program *rw_program_of_texts(pgw_buf *texts, size_t count, const char *tag, uint64_t rows);
void rw_program_free(rw_program *program); /* NULL is fine */

/* The bytes that a program takes, without the client's text: more, while its texts are made. */
size_t rw_program_bytes(const rw_program *program);

/* Whether a program needs no transaction of its own: one of its texts at most touches a table. With
 * options->insert_first: only until rw_program_failed() says that there is more to do. */
bool rw_program_is_single(const rw_program *program);
/* Whether any text of a program writes rows. */
bool rw_program_writes(const rw_program *program);

/* Whether a program may be done once more when it is not known whether it was done: its table says
 * so (repeat: upserts), done twice it comes to the same, and it reads which of its rows are there,
 * so that a first time that is late yet fails. */
bool rw_program_is_repeatable(const rw_program *program);

/* The next text to run. False: the program is through, and the tag is known. Valid until the
 * next call. Rows for the client may come before the last step, and are true only if all others
 * succeed. */
PGW_MUST_CHECK bool rw_program_next(rw_program *program, rw_step *step);
/* Takes a row of RW_ROWS_OURS, as text; NULL is {NULL, 0}. False: the statement fails with the
 * error. */
PGW_MUST_CHECK bool rw_program_row(rw_program *program, const pgw_slice *cells, size_t count,
                                   pgw_error *error);
/* Ends a step; `tag` as the server gave it ("SELECT 3", "INSERT"). */
void rw_program_stepped(rw_program *program, pgw_slice tag);
/* Ends a step that failed, and the transaction with it. True: there is another way to go, from
 * rw_program_next() on, in a transaction of its own if the program is not single any more. */
PGW_MUST_CHECK bool rw_program_failed(rw_program *program, const char *sqlstate);
/* Whether a step failed because another client's row came between the questions and the write: the
 * program may be done another time, from the first step on. To be asked once for each failure. */
PGW_MUST_CHECK bool rw_program_was_overtaken(rw_program *program, const char *sqlstate);
/* Gives the error of a failed step the SQLSTATE that PostgreSQL has for the statement, where a cast
 * that keyspread wrote has failed. */
void rw_program_blame(const rw_program *program, pgw_error *error);
/* Begins again from the first step, because the transaction was ABORTED. */
void rw_program_rewind(rw_program *program);

enum { RW_TAG_MOST = 64 };
/* The tag as PostgreSQL has it, "INSERT 0 3", once the program is through. */
void rw_program_tag(const rw_program *program, char tag[RW_TAG_MOST]);

#endif
