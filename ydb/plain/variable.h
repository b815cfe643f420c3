/*
 * variable: the settings that a session has where the database behind knows none: PostgreSQL's
 * names, what values they take, and how those are shown. A value that would change what the
 * database does or shows is refused, unless it does that already, or more than that.
 */
#ifndef RW_VARIABLE_H
#define RW_VARIABLE_H

#include "protocol/error.h"

typedef enum rw_variable_kind {
    RW_VARIABLE_BOOL,
    RW_VARIABLE_INTEGER,
    RW_VARIABLE_TIME,   /* milliseconds */
    RW_VARIABLE_MEMORY, /* kB */
    RW_VARIABLE_REAL,
    RW_VARIABLE_ENUM,
    RW_VARIABLE_TEXT,
    RW_VARIABLE_ASCII, /* a text in which a character that is not ASCII is shown as ? */
    RW_VARIABLE_PATH,
    RW_VARIABLE_DATES,
    RW_VARIABLE_ZONE,
    RW_VARIABLE_ENCODING,
    RW_VARIABLE_FIXED /* cannot be changed */
} rw_variable_kind;

typedef struct rw_variable {
    const char *name; /* the name as SHOW tells it */
    rw_variable_kind kind;
    const char *value; /* the value at the start, unless rw_variables_start() says another */
    const char *words; /* ENUM: all that PostgreSQL takes, separated by ", " */
    const char *ours;  /* values that can be set here, of any kind; INTEGER: the least; NULL: all */
    double least, most;
    bool reported; /* ParameterStatus tells it */
    const char *description;
} rw_variable;

#endif
