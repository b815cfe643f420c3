/*
 * type_question: what drivers ask pg_type about types that they do not know: asyncpg, pgjdbc,
 * psycopg 3. Their questions are known by heart, token by token, and answered from pg_type.h, for a
 * database that could not.
 */
#ifndef RW_TYPE_QUESTION_H
#define RW_TYPE_QUESTION_H

#include "protocol/value.h"
#include "rewrite/plain/pg_type.h"

enum { RW_TYPE_VALUES = 3 };

/* What stands in a question's text for what is asked about. */
typedef struct rw_type_value {
    pgw_slice text;     /* unescaped; {NULL, 0}: NULL, or a parameter */
    uint32_t parameter; /* n of $n; 0: none */
} rw_type_value;

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
    RW_TYPE_TREE           /* of several oids, with what they are made of */
} rw_type_search;

typedef struct rw_type_question {
    const char *text; /* a value is $1; "…" is whatever else stands there, brackets in pairs */
    rw_type_search search;
    uint32_t types[RW_TYPE_VALUES]; /* of its values, as parameters; 0: it has no more */
    rw_type_column columns[16];
} rw_type_question;

/* The question that a statement is; NULL: it is none of these. Strings are read as
 * standard_conforming_strings has them. */
const rw_type_question *rw_type_question_read(pgw_slice text, pgw_arena *arena,
                                              rw_type_value values[RW_TYPE_VALUES]);

#endif
