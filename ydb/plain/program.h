/*
 * program: what one statement of PostgreSQL takes on YDB: texts that are run one after the other,
 * in one transaction if there are several; what becomes of their rows; and the tag.
 */
#ifndef RW_PROGRAM_H
#define RW_PROGRAM_H

#include "rewrite/hash/table.h"
#include "ydb/plain/step.h"

typedef struct rw_program rw_program;

/* Of one statement, clean (clean.h), its parameters already constants (inline.h). The text must
 * live as long as the program, and so must options->env; the catalog need not. NULL: it cannot be
 * done; the error is filled (0A000 …, with a position in the text). Takes no more stack than any
 * function; INSERT … VALUES may be of any length. */
rw_program *rw_program_new(pgw_slice text, const rw_catalog *catalog,
                           const rw_program_options *options, pgw_error *error);
/* One of these texts, which each write rows, in this order; its tag is `tag` and the number of
 * rows. The texts, `count` of them in memory of pgw_alloc(), become the program's. */
rw_program *rw_program_of_texts(pgw_buf *texts, size_t count, const char *tag, uint64_t rows);
void rw_program_free(rw_program *program); /* NULL is fine */

/* What it takes of memory, its text aside: more, while its texts are made. */
size_t rw_program_bytes(const rw_program *program);

/* It needs no transaction of its own: one of its texts at most touches a table. With
 * options->insert_first: so far, until rw_program_failed() says that there is more to do. */
bool rw_program_is_single(const rw_program *program);
/* Whether any of its texts writes rows. */
bool rw_program_writes(const rw_program *program);

/* If nobody knows whether it has been done, it may be done once more: its table says so (repeat:
 * upserts), done twice it comes to the same, and it reads which of its rows are there, so that a
 * first time that is late yet fails. */
bool rw_program_is_repeatable(const rw_program *program);

/* The next text to run; false: it is through, and the tag is known. Valid until the next call. Rows
 * for the client may come before the last step, and are true only if all others succeed. */
PGW_MUST_CHECK bool rw_program_next(rw_program *program, rw_step *step);
/* A row of RW_ROWS_OURS, as text; NULL is {NULL, 0}. False: the statement fails with the error. */
PGW_MUST_CHECK bool rw_program_row(rw_program *program, const pgw_slice *cells, size_t count,
                                   pgw_error *error);
/* The step is through; `tag` as the server gave it ("SELECT 3", "INSERT"). */
void rw_program_stepped(rw_program *program, pgw_slice tag);
/* The step failed, and the transaction with it: whether there is another way to go, from
 * rw_program_next() on, in a transaction of its own if it is not single any more. */
PGW_MUST_CHECK bool rw_program_failed(rw_program *program, const char *sqlstate);
/* … because another client's row came between what it has asked and what it writes: it may be done
 * another time, from the first step on. To be asked once for each failure. */
PGW_MUST_CHECK bool rw_program_was_overtaken(rw_program *program, const char *sqlstate);
/* What a text whose rows are asked for here, or that shows what is written, has failed with becomes
 * what PostgreSQL says of the statement. */
void rw_program_blame(const rw_program *program, pgw_error *error);
/* Again from the first step: the transaction was ABORTED. */
void rw_program_rewind(rw_program *program);

enum { RW_TAG_MOST = 64 };
/* As PostgreSQL has it: "INSERT 0 3". Once it is through. */
void rw_program_tag(const rw_program *program, char tag[RW_TAG_MOST]);

#endif
