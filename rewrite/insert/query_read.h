/*
 * query_read: the query in the place of VALUES, read as far as its rows need it: where it ends, and
 * the columns that it gives. The rest is the server's to understand.
 */
#ifndef RW_QUERY_READ_H
#define RW_QUERY_READ_H

#include "rewrite/insert/parser.h"

/* A column that the first SELECT of the query gives. */
typedef struct rw_query_item {
    size_t start;      /* of the first token that is no '(' */
    rw_token constant; /* all of it, if it is one: '…', NULL, $1, 5; else END */
    bool typed;        /* … and has a type of its own */
    pgw_slice alias;   /* … its name, or empty */
    bool stays;        /* … it is text, because the query asks for it by its number or name */
} rw_query_item;

typedef struct rw_query {
    rw_parser *parser;
    size_t start, end; /* bytes */
    rw_query_item *items;
    size_t count, cap;
    bool star;    /* one of them is any number of columns */
    bool plain;   /* one SELECT without DISTINCT: what has no type gets that of its column */
    size_t *made; /* columns of the hash_key that the statement leaves to their defaults */
    size_t made_count;
} rw_query;

/* Whether the rows before the next token are only a part of a query: ORDER BY, LIMIT, UNION … */
bool rw_at_query_tail(const rw_parser *parser);
/* Reads the query that begins at parser->query, up to ON CONFLICT, RETURNING or the end. RW_PASS:
 * it has an INTO, which is no place for rows here. */
PGW_MUST_CHECK rw_outcome rw_query_read(rw_query *query);

#endif
