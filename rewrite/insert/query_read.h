/*
 * query_read: the query in the place of VALUES, read as far as its rows need it: where it ends, and
 * the columns that it gives. The rest is the server's to understand.
 */
#ifndef RW_QUERY_READ_H
#define RW_QUERY_READ_H

#include "rewrite/insert/parser.h"

/* A column that the first SELECT of the query gives. */
typedef struct rw_query_item {
    size_t start;      /* offset of the first token that is not '(' */
    rw_token constant; /* the item's only token: '…', NULL, $1, 5; END: it is no constant */
    bool typed;        /* the constant has a type of its own */
    pgw_slice alias;   /* the constant's name, or empty */
    bool stays; /* GROUP BY, ORDER BY or DISTINCT ON refers to the constant by number or name, and
                   makes it text */
} rw_query_item;

typedef struct rw_query {
    rw_parser *parser;
    size_t start, end; /* byte offsets in the text */
    rw_query_item *items;
    size_t count, cap;
    bool star;  /* an item is a * of any number of columns */
    bool plain; /* one SELECT without DISTINCT, UNION or grouping sets: constants without a type get
                   that of their column */
    size_t *made; /* columns of the hash_key that the statement leaves to their defaults */
    size_t made_count;
} rw_query;

/* Whether the rows before the next token are only a part of a query, as before LIMIT or UNION. */
bool rw_at_query_tail(const rw_parser *parser);
/* Reads the query that begins at parser->query, up to ON CONFLICT, RETURNING or the end. RW_PASS:
 * the query has an INTO, which no INSERT may have. */
PGW_MUST_CHECK rw_outcome rw_query_read(rw_query *query);

#endif
