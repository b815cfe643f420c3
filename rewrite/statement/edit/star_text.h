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
    pgw_slice text; /* of the statement */
    rw_token *tokens;
    size_t count;
    pgw_arena *arena;
    pgw_buf list, bytes; /* rw_star, and their texts */
    bool failed;         /* something is not where it should be: nothing is to be changed */
    bool by_value;       /* constants of the text are repeated in what is put in */
} rw_star_texts;

void rw_star_texts_init(rw_star_texts *texts, pgw_slice text, bool conforming, pgw_arena *arena);
/* Whether the name stands anywhere. */
bool rw_star_texts_name(const rw_star_texts *texts, const char *name);

/* In the place of `*`, or (`table` is there) of the word TABLE: the columns of all items. */
void rw_star_put_all(rw_star_texts *texts, const PgQuery__ColumnRef *at,
                     const PgQuery__RangeVar *table, const rw_star_scope *scope);
/* In the place of `name.*` or `(name).*`: its columns; or of a row of it: a row of these. */
void rw_star_put_columns(rw_star_texts *texts, const PgQuery__ColumnRef *at,
                         const rw_star_item *item);
void rw_star_put_row(rw_star_texts *texts, const PgQuery__ColumnRef *at, const rw_star_item *item);
/* In the place of a reference, whose last field may be a star. Frees `text`. */
void rw_star_put_reference(rw_star_texts *texts, const PgQuery__ColumnRef *at, pgw_buf *text);
/* Before the name of a column: whose it is. */
void rw_star_put_qualifier(rw_star_texts *texts, const PgQuery__ColumnRef *at,
                           const rw_star_item *item);
/* In the place of a table in a FROM: a subquery. */
void rw_star_put_query(rw_star_texts *texts, const rw_star_item *item);
/* … of the table of COPY … TO. */
void rw_star_put_copy(rw_star_texts *texts, const PgQuery__CopyStmt *copy, const rw_table *table);
/* The name alone in the place of ONLY name, or ONLY (name). */
void rw_star_put_whole(rw_star_texts *texts, const rw_star_item *item);

/* `, name."hash"`, behind so many tokens. */
void rw_star_put_hash(rw_star_texts *texts, int32_t location, size_t tokens,
                      const rw_star_item *item);

/* In the place of [ONLY] a relation, whose name stands at `location`. Frees `text`, as the next
 * ones do. */
void rw_star_put_relation(rw_star_texts *texts, int32_t location, pgw_buf *text);
/* In the place of a relation with TABLESAMPLE, and behind that; its alias moves behind both. Frees
 * `text` and `behind`. */
void rw_star_put_sampled(rw_star_texts *texts, const PgQuery__RangeVar *relation, pgw_buf *text,
                         pgw_buf *behind);
/* SELECT * FROM in the place of the word TABLE before it. */
void rw_star_put_table(rw_star_texts *texts, const PgQuery__RangeVar *table);
/* Behind the name of a row. */
void rw_star_put_cast(rw_star_texts *texts, int32_t location, pgw_buf *text);
/* In the place of so many names of it: that of the subquery in its place. */
void rw_star_put_called(rw_star_texts *texts, int32_t location, size_t names,
                        const rw_star_item *item);
/* The first names, and the point behind each, go from a reference. */
void rw_star_cut_names(rw_star_texts *texts, int32_t location, size_t count);
/* Around a call of a function. */
void rw_star_put_around(rw_star_texts *texts, int32_t location, pgw_buf *before, pgw_buf *behind);
/* Behind it, and so many tokens more. */
void rw_star_put_after(rw_star_texts *texts, int32_t location, size_t more, pgw_buf *text);
/* The text of its argument `number`, from 0, to be repeated; it has so many. */
pgw_slice rw_star_argument(rw_star_texts *texts, int32_t location, size_t number);
/* Before it, and behind it. */
void rw_star_put_before(rw_star_texts *texts, pgw_slice argument, pgw_buf *text);
void rw_star_put_behind(rw_star_texts *texts, pgw_slice argument, pgw_buf *text);

/* All of it, in order of the text; NULL: there is nothing. Frees what was gathered. */
const rw_star_map *rw_star_texts_map(rw_star_texts *texts, pgw_arena *arena);

#endif
