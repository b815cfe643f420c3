/*
 * edit_writer: what is put into a statement so that it shows no hash column, by its tokens: lists
 * of columns, rows and subqueries of them.
 */
#ifndef RW_EDIT_WRITER_H
#define RW_EDIT_WRITER_H

#include "rewrite/statement/edit/query_scope.h"
#include "rewrite/statement/edit/token_edits.h"

/* What is put in, as it is gathered. */
typedef struct rw_edit_writer {
    pgw_slice text; /* text of the statement */
    rw_token *tokens;
    size_t count;
    pgw_arena *arena;
    pgw_buf list, bytes; /* array of rw_token_edit, and their texts */
    bool failed;         /* something is not where it should be: nothing is to be changed */
    bool by_value;       /* constants of the text are repeated in what is put in */
} rw_edit_writer;

void rw_edit_writer_init(rw_edit_writer *texts, pgw_slice text, bool conforming, pgw_arena *arena);
/* Whether the name stands anywhere in the statement. */
bool rw_edit_writer_names(const rw_edit_writer *texts, const char *name);

/* Puts the columns of all items in the place of `*`, or (if `table` is not NULL) of the word TABLE.
 */
void rw_edit_put_all(rw_edit_writer *texts, const PgQuery__ColumnRef *at,
                     const PgQuery__RangeVar *table, const rw_query_scope *scope);
/* Put the item's columns in the place of `name.*` or `(name).*`, or a row of them in the place of
 * its row. */
void rw_edit_put_columns(rw_edit_writer *texts, const PgQuery__ColumnRef *at,
                         const rw_query_scope_item *item);
void rw_edit_put_row(rw_edit_writer *texts, const PgQuery__ColumnRef *at,
                     const rw_query_scope_item *item);
/* Puts `text`, which is freed, in the place of a reference, whose last field may be a star. */
void rw_edit_put_reference(rw_edit_writer *texts, const PgQuery__ColumnRef *at, pgw_buf *text);
/* Puts the item's name before the name of a column. */
void rw_edit_put_qualifier(rw_edit_writer *texts, const PgQuery__ColumnRef *at,
                           const rw_query_scope_item *item);
/* Puts a subquery in the place of a table in a FROM. */
void rw_edit_put_query(rw_edit_writer *texts, const rw_query_scope_item *item);
/* Puts a subquery in the place of the table of COPY … TO. */
void rw_edit_put_copy(rw_edit_writer *texts, const PgQuery__CopyStmt *copy, const rw_table *table);
/* Puts the name alone in the place of ONLY name, or ONLY (name). */
void rw_edit_put_whole(rw_edit_writer *texts, const rw_query_scope_item *item);

/* Puts `, name."hash"` behind so many tokens from `location` on. */
void rw_edit_put_hash(rw_edit_writer *texts, int32_t location, size_t tokens,
                      const rw_query_scope_item *item);

/* Puts `text` in the place of [ONLY] a relation, whose name stands at `location`. The text is
 * freed, as in all functions below. */
void rw_edit_put_relation(rw_edit_writer *texts, int32_t location, pgw_buf *text);
/* Puts `text` in the place of a relation with TABLESAMPLE, and its alias and `behind` behind the
 * sample. */
void rw_edit_put_sampled(rw_edit_writer *texts, const PgQuery__RangeVar *relation, pgw_buf *text,
                         pgw_buf *behind);
/* Puts SELECT * FROM in the place of the word TABLE before a relation. */
void rw_edit_put_table(rw_edit_writer *texts, const PgQuery__RangeVar *table);
/* Puts a cast behind the name of a row. */
void rw_edit_put_cast(rw_edit_writer *texts, int32_t location, pgw_buf *text);
/* Puts the name of the subquery in the item's place where so many names call the item. */
void rw_edit_put_called(rw_edit_writer *texts, int32_t location, size_t names,
                        const rw_query_scope_item *item);
/* Cuts the first `count` names of a reference, and the point behind each. */
void rw_edit_cut_names(rw_edit_writer *texts, int32_t location, size_t count);
/* Puts texts around a call of a function. */
void rw_edit_put_around(rw_edit_writer *texts, int32_t location, pgw_buf *before, pgw_buf *behind);
/* Puts a text behind a call, and so many tokens more. */
void rw_edit_put_after(rw_edit_writer *texts, int32_t location, size_t more, pgw_buf *text);
/* The text of argument `number`, from 0, of a call, to be repeated; the call has that argument. */
pgw_slice rw_edit_argument(rw_edit_writer *texts, int32_t location, size_t number);
/* Put a text before, or behind, an argument of a call. */
void rw_edit_put_before(rw_edit_writer *texts, pgw_slice argument, pgw_buf *text);
void rw_edit_put_behind(rw_edit_writer *texts, pgw_slice argument, pgw_buf *text);

/* The map of all that was put in, in the order of the text; NULL: nothing. Frees what was gathered.
 */
const rw_token_edits *rw_edit_writer_map(rw_edit_writer *texts, pgw_arena *arena);

#endif
