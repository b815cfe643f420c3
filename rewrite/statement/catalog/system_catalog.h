/*
 * system_catalog: PostgreSQL's own relations and functions that tell of a table's columns and keys,
 * and what stands in their place in a statement, so that it hears nothing of hash columns.
 */
#ifndef RW_SYSTEM_CATALOG_H
#define RW_SYSTEM_CATALOG_H

#include "rewrite/statement/catalog/system_marks.h"

/* What is put into a call, with marks: around it (NULL: nothing), and around an argument. */
typedef struct rw_system_function {
    const char *name;
    bool plain; /* only for calls whose arguments can be read twice */
    const char *before, *behind;
    size_t argument; /* index of the argument that `opens` and `closes` stand around; opens NULL:
                        none */
    const char *opens, *closes;
    size_t count; /* only for calls with so many arguments; 0: with any number */
    rw_system_need need;
} rw_system_function;

/* Whether the word, in any case, is a name of such a relation or function, or information_schema.
 */
PGW_MUST_CHECK bool rw_system_names(pgw_slice word);
/* Whether the word is a relation of information_schema, which search_path may find without the
 * schema. */
PGW_MUST_CHECK bool rw_system_informs(pgw_slice word);
/* The names of all functions and relations, NULL behind the last. */
const char *rw_system_name(size_t i);
/* The relation of that name; NULL: none. `schema` empty: not written. `gaps`: dropped columns are
 * asked for. */
const rw_system_relation *rw_system_relation_of(const rw_catalog *catalog, const char *schema,
                                                const char *name, bool gaps);
/* The function of that name, called with `count` arguments; NULL: none. `plain`: the arguments can
 * be read twice. */
const rw_system_function *rw_system_function_of(const rw_catalog *catalog, const char *schema,
                                                const char *name, size_t count, bool plain);
/* The relation's next column: `*at` is NULL before the first. False: there is none, or it is not
 * known which there are. */
PGW_MUST_CHECK bool rw_system_next_column(const rw_catalog *catalog,
                                          const rw_system_relation *relation, const char **at,
                                          pgw_slice *name);
/* Whether the relation has a column of this name, as far as is known. */
PGW_MUST_CHECK bool rw_system_has_column(const rw_catalog *catalog,
                                         const rw_system_relation *relation, const char *name);
/* Whether the columns that are shown otherwise than they are can be listed among the relation's
 * others. */
PGW_MUST_CHECK bool rw_system_knows_columns(const rw_catalog *catalog,
                                            const rw_system_relation *relation);
/* The SQL in the column's place, with marks; NULL: the column itself. */
const char *rw_system_shown(const rw_system_relation *relation, pgw_slice name);

#endif
