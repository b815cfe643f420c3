/*
 * system_relations: PostgreSQL's own relations that tell of a table's columns, keys and partitions,
 * and what they show of them where hash columns are unseen.
 */
#ifndef RW_SYSTEM_RELATIONS_H
#define RW_SYSTEM_RELATIONS_H

#include <stddef.h>

/* A column of one, and what stands in its place: SQL, with marks (system_sql.h); NULL: itself. */
typedef struct rw_system_column {
    const char *name, *shown;
} rw_system_column;

/* When it is not shown as it is. */
typedef enum rw_system_need {
    RW_SYSTEM_ALWAYS,
    RW_SYSTEM_PARTS, /* a table is in partitions */
    RW_SYSTEM_GAPS, /* a table has columns behind its hash column, and dropped ones are asked for */
    RW_SYSTEM_STRICT /* a table is strict */
} rw_system_need;

typedef struct rw_system_relation {
    const char *schema, *name;
    unsigned oid; /* not 0: which columns it has depends on the version of PostgreSQL */
    const rw_system_column *columns; /* those of any version; NULL: all as they are */
    const char *rows;                /* which are there: a condition, with marks; NULL: all */
    rw_system_need need;
} rw_system_relation;

/* NULL behind the last. Of several by one name the first that is needed stands for it. */
const rw_system_relation *rw_system_relation_at(size_t i);

#endif
