/*
 * compile: from a text to what is to be done: parsed by PostgreSQL's grammar, allowed or refused,
 * and answered at once where the endpoint answers without looking at data.
 */
#ifndef YE_COMPILE_H
#define YE_COMPILE_H

#include "tests/ydb_endpoint/allow.h"
#include "tests/ydb_endpoint/known.h"

typedef struct ye_settings {
    char search_path[64]; /* what SHOW shows */
} ye_settings;

typedef struct ye_compiled {
    pgw_arena arena; /* of what follows */
    PgQuery__ParseResult *parsed;
    const PgQuery__Node *statement; /* NULL: the text is comments and blanks */
    const char *tag;                /* not NULL: the answer, and nothing is executed */
    const char *shown;              /* … but for the name of what SHOW shows … */
    char value[128];                /* … and its value */
} ye_compiled;

/* False: refused. `text` has a NUL behind it; `known` may be NULL, and else what is compiled lives
 * until it is used again. In both cases ye_compiled_free(). */
PGW_MUST_CHECK bool ye_compile(pgw_slice text, const ye_options *options, ye_settings *settings,
                               ye_known *known, ye_compiled *compiled, ye_failure *failure);
void ye_compiled_free(ye_compiled *compiled);

/* "CREATE/ALTER/DROP are sent without tx control" (1.5): known by how the text begins. */
bool ye_is_scheme(pgw_slice text);

typedef enum ye_word { YE_NO_WORD, YE_BEGIN, YE_COMMIT, YE_ROLLBACK } ye_word;
/* "recognised by prefix of the first 20 chars" (1.5): blanks and comments in front defeat it. */
ye_word ye_word_of(pgw_slice text);

#endif
