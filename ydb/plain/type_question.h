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
    RW_TYPE_ELEMENT_DELIMITER, /* the element type's delimiter, for types of variable length that
                                  have one */
    RW_TYPE_SUBTYPE,
    RW_TYPE_SHOWN,
    RW_TYPE_ELEMENT_SHOWN,
    RW_TYPE_SUBTYPE_SHOWN,
    RW_TYPE_IS_ARRAY,
    RW_TYPE_KIND_OR_ARRAY, /* typtype, or 'a' for an array */
    RW_TYPE_NOT_NULL,
    RW_TYPE_MADE_OF, /* an array's element, a range's subtype, perhaps a multirange's range */
    RW_TYPE_VISIBLE,
    RW_TYPE_DEPTH,
    RW_TYPE_NO_OID, /* NULL, as are the fields below: they are about domains and rows, which there
                       are none of */
    RW_TYPE_NO_OIDS,
    RW_TYPE_NO_TEXT,
    RW_TYPE_NO_TEXTS,
    RW_TYPE_END
} rw_type_field;

typedef struct rw_type_column {
    const char *name;
    rw_type_field field; /* END: there are no more */
} rw_type_column;

/* Which types a question is about, by its first value. */
typedef enum rw_type_search {
    RW_TYPE_BY_OID,
    RW_TYPE_BY_NAME,
    RW_TYPE_BY_REGTYPE,    /* the type of a name; an error if there is none */
    RW_TYPE_BY_TO_REGTYPE, /* the type of a name; no row if there is none */
    RW_TYPE_ELEMENT_OF,    /* the element type of an oid's type */
    RW_TYPE_ARRAY_OF,      /* the array type of a name's type */
    RW_TYPE_TREE,          /* the types of several oids, with the types that they are made of */
    RW_TYPE_ALL_RANGES,    /* all types that have values, with the ranges of multiranges */
    RW_TYPE_ALL,           /* all types that have values, without the ranges of multiranges */
    RW_TYPE_EVERY,         /* all types, also those without values */
    RW_TYPE_EVERY_DOWN,    /* all types, also those without values, the last oid first */
    RW_TYPE_NONE           /* all types that users have made: there are none */
} rw_type_search;

typedef struct rw_type_question {
    const char *text; /* the question in the form of rw_known_match() */
    rw_type_search search;
    uint32_t types[RW_KNOWN_VALUES]; /* types of the question's values, as parameters; 0: it has no
                                        more values */
    rw_type_column columns[16];
} rw_type_question;

/* The question that a statement is; NULL: it is no known question. */
const rw_type_question *rw_type_question_read(pgw_slice text, pgw_arena *arena,
                                              rw_known_value values[RW_KNOWN_VALUES]);

#endif
