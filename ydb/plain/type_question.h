/*
 * type_question: what drivers ask pg_type about types that they do not know: asyncpg, npgsql,
 * pgjdbc, psycopg 3. Their questions are known by heart, token by token, and answered from
 * pg_type.h, for a database that could not.
 */
#ifndef RW_TYPE_QUESTION_H
#define RW_TYPE_QUESTION_H

#include "ydb/plain/known_text.h"
#include "ydb/plain/pg_type.h"

typedef enum rw_type_field {
    RW_TYPE_OID,
    RW_TYPE_NAME,
    RW_TYPE_SCHEMA,
    RW_TYPE_KIND,
    RW_TYPE_ARRAY,
    RW_TYPE_ELEMENT,
    RW_TYPE_DELIMITER,
    RW_TYPE_ELEMENT_DELIMITER, /* of what has elements and no length */
    RW_TYPE_SUBTYPE,
    RW_TYPE_SHOWN,
    RW_TYPE_ELEMENT_SHOWN,
    RW_TYPE_SUBTYPE_SHOWN,
    RW_TYPE_IS_ARRAY,
    RW_TYPE_KIND_OR_ARRAY, /* typtype, or 'a' */
    RW_TYPE_NOT_NULL,
    RW_TYPE_MADE_OF, /* an array's element, a range's subtype, perhaps a multirange's range */
    RW_TYPE_VISIBLE,
    RW_TYPE_DEPTH,
    RW_TYPE_NO_OID, /* NULLs: of domains and rows, which there are none of */
    RW_TYPE_NO_OIDS,
    RW_TYPE_NO_TEXT,
    RW_TYPE_NO_TEXTS,
    RW_TYPE_END
} rw_type_field;

typedef struct rw_type_column {
    const char *name;
    rw_type_field field; /* END: there are no more */
} rw_type_column;

/* Which types it is about, by its first value. */
typedef enum rw_type_search {
    RW_TYPE_BY_OID,
    RW_TYPE_BY_NAME,
    RW_TYPE_BY_REGTYPE,    /* what there is none of is an error */
    RW_TYPE_BY_TO_REGTYPE, /* … or not */
    RW_TYPE_ELEMENT_OF,    /* of an oid's type */
    RW_TYPE_ARRAY_OF,      /* of a name's type */
    RW_TYPE_TREE,          /* of several oids, with what they are made of */
    RW_TYPE_ALL_RANGES,    /* that values can be of, with what multiranges are made of … */
    RW_TYPE_ALL,           /* … or without */
    RW_TYPE_EVERY,         /* whether or not values can be of it … */
    RW_TYPE_EVERY_DOWN,    /* … the last oid first */
    RW_TYPE_NONE           /* all that somebody has made */
} rw_type_search;

typedef struct rw_type_question {
    const char *text; /* as rw_known_match() has it */
    rw_type_search search;
    uint32_t types[RW_KNOWN_VALUES]; /* of its values, as parameters; 0: it has no more */
    rw_type_column columns[16];
} rw_type_question;

/* The question that a statement is; NULL: it is none of these. */
const rw_type_question *rw_type_question_read(pgw_slice text, pgw_arena *arena,
                                              rw_known_value values[RW_KNOWN_VALUES]);

#endif
