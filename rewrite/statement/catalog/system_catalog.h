/*
 * system_catalog: PostgreSQL's own relations and functions that tell of a table's columns and keys,
 * and what stands in their place in a statement, so that it hears nothing of hash columns.
 */
#ifndef RW_SYSTEM_CATALOG_H
#define RW_SYSTEM_CATALOG_H

#include "rewrite/hash/table.h"
#include "rewrite/statement/catalog/system_relations.h"

enum { RW_SYSTEM_ARGUMENTS = 3 };

/* What is put into a call, with marks: around it (NULL: nothing), and around an argument. */
typedef struct rw_system_function {
    const char *name, *before, *behind;
    size_t argument; /* from 0 … */
    const char *opens, *closes;
    size_t count; /* only of a call with so many arguments; 0: however many, if that is there */
    bool strict;  /* only where a table is strict */
} rw_system_function;

/* What marks stand for. */
typedef struct rw_system_marks {
    const rw_catalog *catalog;
    pgw_slice arguments[RW_SYSTEM_ARGUMENTS]; /* the first ones of a call */
} rw_system_marks;

/* Whether the word, in any case, is a name of one, or of their schema. */
PGW_MUST_CHECK bool rw_system_names(pgw_slice word);
/* … of a relation of information_schema, which is found without its name by search_path alone. */
PGW_MUST_CHECK bool rw_system_informs(pgw_slice word);
/* The names of all, NULL behind the last; those of information_schema are found by its own, too. */
const char *rw_system_name(size_t i);
/* NULL: it is none. `schema` empty: not written. */
const rw_system_relation *rw_system_relation_of(const rw_catalog *catalog, const char *schema,
                                                const char *name, bool gaps);
const rw_system_function *rw_system_function_of(const rw_catalog *catalog, const char *schema,
                                                const char *name, size_t count);
/* The relation's next column: `*at` is NULL before the first. False: there is none, or it is not
 * known which there are. */
PGW_MUST_CHECK bool rw_system_next_column(const rw_catalog *catalog,
                                          const rw_system_relation *relation, const char **at,
                                          pgw_slice *name);
/* Whether it has a column of this name, as far as is known. */
PGW_MUST_CHECK bool rw_system_has_column(const rw_catalog *catalog,
                                         const rw_system_relation *relation, const char *name);
/* Whether all that are shown otherwise than they are can be listed among the others. */
PGW_MUST_CHECK bool rw_system_knows_columns(const rw_catalog *catalog,
                                            const rw_system_relation *relation);
/* What stands in the column's place, with marks; NULL: itself. */
const char *rw_system_shown(const rw_system_relation *relation, pgw_slice name);
/* Whether a table's hash column is to be unseen there. */
PGW_MUST_CHECK bool rw_system_hides(const rw_catalog *catalog);
/* Adds SQL with its marks filled in. */
void rw_system_add(pgw_buf *out, const char *sql, const rw_system_marks *marks);

#endif
