/*
 * star_text: what is put into a statement so that it shows no hash column, by its tokens: lists of
 * columns, rows and subqueries of them.
 */
#ifndef RW_STAR_TEXT_H
#define RW_STAR_TEXT_H

#include "rewrite/statement/edit/star_scope.h"
#include "rewrite/statement/edit/stars.h"

/* What is put in, as it is gathered. */
typedef struct rw_star_texts {
    pgw_slice text; /* text of the statement */
    rw_token *tokens;
    size_t count;
    pgw_arena *arena;
    pgw_buf list, bytes; /* array of rw_star, and their texts */
    bool failed;         /* something is not where it should be: nothing is to be changed */
    bool by_value;       /* constants of the text are repeated in what is put in */
} rw_star_texts;

void rw_star_texts_init(rw_star_texts *texts, pgw_slice text, bool conforming, pgw_arena *arena);
/* Whether the name stands anywhere in the statement. */
bool rw_star_texts_name(const rw_star_texts *texts, const char *name);

/* Puts the columns of all items in the place of `*`, or (if `table` is not NULL) of the word TABLE.
 */
void rw_star_put_all(rw_star_texts *texts, const PgQuery__ColumnRef *at,
                     const PgQuery__RangeVar *table, const rw_star_scope *scope);
/* Put the item's columns in the place of `name.*` or `(name).*`, or a row of them in the place of
 * its row. */
void rw_star_put_columns(rw_star_texts *texts, const PgQuery__ColumnRef *at,
                         const rw_star_item *item);
void rw_star_put_row(rw_star_texts *texts, const PgQuery__ColumnRef *at, const rw_star_item *item);
/* Puts `text`, which is freed, in the place of a reference, whose last field may be a star. */
void rw_star_put_reference(rw_star_texts *texts, const PgQuery__ColumnRef *at, pgw_buf *text);
/* Puts the item's name before the name of a column. */
void rw_star_put_qualifier(rw_star_texts *texts, const PgQuery__ColumnRef *at,
                           const rw_star_item *item);
/* Puts a subquery in the place of a table in a FROM. */
void rw_star_put_query(rw_star_texts *texts, const rw_star_item *item);
/* Puts a subquery in the place of the table of COPY … TO. */
void rw_star_put_copy(rw_star_texts *texts, const PgQuery__CopyStmt *copy, const rw_table *table);
/* Puts the name alone in the place of ONLY name, or ONLY (name). */
void rw_star_put_whole(rw_star_texts *texts, const rw_star_item *item);

/* Puts `, name."hash"` behind so many tokens from `location` on. */
void rw_star_put_hash(rw_star_texts *texts, int32_t location, size_t tokens,
                      const rw_star_item *item);

/* Puts `text` in the place of [ONLY] a relation, whose name stands at `location`. The text is
 * freed, as in all functions below. */
void rw_star_put_relation(rw_star_texts *texts, int32_t location, pgw_buf *text);
/* Puts `text` in the place of a relation with TABLESAMPLE, and its alias and `behind` behind the
 * sample. */
void rw_star_put_sampled(rw_star_texts *texts, const PgQuery__RangeVar *relation, pgw_buf *text,
                         pgw_buf *behind);
/* Puts SELECT * FROM in the place of the word TABLE before a relation. */
void rw_star_put_table(rw_star_texts *texts, const PgQuery__RangeVar *table);
/* Puts a cast behind the name of a row. */
void rw_star_put_cast(rw_star_texts *texts, int32_t location, pgw_buf *text);
/* Puts the name of the subquery in the item's place where so many names call the item. */
void rw_star_put_called(rw_star_texts *texts, int32_t location, size_t names,
                        const rw_star_item *item);
/* Cuts the first `count` names of a reference, and the point behind each. */
void rw_star_cut_names(rw_star_texts *texts, int32_t location, size_t count);
/* Puts texts around a call of a function. */
void rw_star_put_around(rw_star_texts *texts, int32_t location, pgw_buf *before, pgw_buf *behind);
/* Puts a text behind a call, and so many tokens more. */
void rw_star_put_after(rw_star_texts *texts, int32_t location, size_t more, pgw_buf *text);
/* The text of argument `number`, from 0, of a call, to be repeated; the call has that argument. */
pgw_slice rw_star_argument(rw_star_texts *texts, int32_t location, size_t number);
/* Put a text before, or behind, an argument of a call. */
void rw_star_put_before(rw_star_texts *texts, pgw_slice argument, pgw_buf *text);
void rw_star_put_behind(rw_star_texts *texts, pgw_slice argument, pgw_buf *text);

/* The map of all that was put in, in the order of the text; NULL: nothing. Frees what was gathered.
 */
const rw_star_map *rw_star_texts_map(rw_star_texts *texts, pgw_arena *arena);

#endif
