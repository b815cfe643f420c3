/*
 * system_marks: what marks stand for in the SQL that is put in the place of PostgreSQL's own
 * relations and functions (system_sql.h): the tables whose hash columns are hidden.
 */
#ifndef RW_SYSTEM_MARKS_H
#define RW_SYSTEM_MARKS_H

#include "rewrite/hash/table.h"
#include "rewrite/statement/catalog/system_relations.h"

/*
 * Sets are what is asked again and again. A statement that can has them as queries of its WITH,
 * each made once; else they stand in full. Sets that are tables in a FROM:
 *   %T  the tables: oid, space (oid of the schema), schema, name, hash, number, last (column)
 *   %F  the tables, their indexes and the partitions of both: oid, hash, part
 * Sets that are arrays:
 *   %O, %N  the oids of the tables, and the numbers of their hash columns in the same order
 *   %X, %C, %A  the oids of their indexes, of their constraints, and all of %F
 *   %P  the places of the hash, from 1, in their indexes, whose oids stand in the higher bits
 *   %B, %R  the oids of %F that are partitions, or are none
 *   %Y, %V  the row types of these partitions, and schema and name of each in one text
 *   %K  the oids of the indexes of UNIQUEs that are there for foreign keys alone
 */
enum { RW_SYSTEM_ARGUMENTS = 3 };

/* What marks stand for. */
typedef struct rw_system_marks {
    const rw_catalog *catalog;
    pgw_slice arguments[RW_SYSTEM_ARGUMENTS]; /* the first arguments of a call */
    unsigned *shared; /* Sets that stand in WITH: each that is used is added; NULL: none may stand
                         there. */
} rw_system_marks;

/* Whether a table's hash column is hidden in PostgreSQL's catalog. */
PGW_MUST_CHECK bool rw_system_hides(const rw_catalog *catalog);
/* Whether one of the tables makes the need hold. */
PGW_MUST_CHECK bool rw_system_is_needed(const rw_catalog *catalog, rw_system_need need);
/* Adds SQL with its marks filled in. */
void rw_system_add(pgw_buf *out, const char *sql, const rw_system_marks *marks);
/* The queries of WITH that these sets, and those that they are made of, stand in; false: none. */
bool rw_system_add_shared(pgw_buf *out, const rw_catalog *catalog, unsigned shared);

#endif
