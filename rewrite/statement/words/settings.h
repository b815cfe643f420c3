/*
 * settings: those that are followed, and what a text that sets one may change of what names mean.
 */
#ifndef RW_SETTINGS_H
#define RW_SETTINGS_H

#include "rewrite/statement/words/setting_kind.h"

/* Settings that are part of the identity: followed, asked for, and set on a new link. The first
 * RW_REPORTED are reported by the server. */
typedef enum rw_tracked_setting {
    RW_CLIENT_ENCODING,
    RW_DATESTYLE,
    RW_INTERVALSTYLE,
    RW_TIMEZONE,
    RW_CONFORMING_STRINGS,
    RW_REPORTED,
    RW_SYNCHRONOUS_COMMIT = RW_REPORTED,
    RW_STATEMENT_TIMEOUT,
    RW_LOCK_TIMEOUT,
    RW_SEARCH_PATH,
    RW_TRACKED
} rw_tracked_setting;
extern const char *const rw_tracked[RW_TRACKED];

/* keyspread's own setting, which the server only keeps: lazy or eager. */
#define RW_TRANSACTIONS "keyspread.transactions"

/* Whether the first schema of a search_path, as the server shows it, is information_schema, but for
 * pg_catalog. */
bool rw_path_informs(pgw_slice path);
/* A setting's name in lower case. */
pgw_slice rw_setting_name(pgw_arena *arena, pgw_slice name);
/* All that a statement calls set_config() for are settings that it names by constants, and that do
 * not decide what names of tables mean. */
bool rw_configures_no_names(pgw_slice text, bool conforming, pgw_arena *arena);

#endif
