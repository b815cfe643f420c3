/*
 * system_relations: PostgreSQL's own relations that tell of a table's columns, keys and partitions,
 * and what they show of them where hash columns are unseen.
 */
#ifndef RW_SYSTEM_RELATIONS_H
#define RW_SYSTEM_RELATIONS_H

#include <stddef.h>

/* A column of a relation, and the SQL in its place, with marks (system_sql.h); NULL: the column
 * itself. */
typedef struct rw_system_column {
    const char *name, *shown;
} rw_system_column;

/* When a relation is not shown as it is. */
typedef enum rw_system_need {
    RW_SYSTEM_ALWAYS,
    RW_SYSTEM_PARTS, /* a table is in partitions */
    RW_SYSTEM_GAPS, /* a table has columns behind its hash column, and dropped ones are asked for */
    RW_SYSTEM_STRICT /* a table is strict */
} rw_system_need;

typedef struct rw_system_relation {
    const char *schema, *name;
    unsigned oid; /* oid, if the columns depend on the version of PostgreSQL; else 0 */
    const rw_system_column *columns; /* columns of any version; NULL: all are shown as they are */
    const char *rows; /* condition, with marks, of the rows that are shown; NULL: all */
    rw_system_need need;
} rw_system_relation;

/* The relation of this index; NULL behind the last. Of several by one name the first that is needed
 * counts. */
const rw_system_relation *rw_system_relation_at(size_t i);

#endif
