/*
 * settings: the settings that keyspread follows, and what a text that sets one may change of what
 * names mean.
 */
#ifndef RW_SETTINGS_H
#define RW_SETTINGS_H

#include "protocol/error.h"
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

/* Settings of keyspread's own, which the server only keeps. */
typedef enum rw_own_setting {
    RW_OWN_TRANSACTIONS,
    RW_OWN_COPY,
    RW_OWN_COPY_ON_CONFLICT,
    RW_OWN_SETTINGS
} rw_own_setting;
extern const char *const rw_own[RW_OWN_SETTINGS];

/* The words that keyspread's own settings take. */
typedef enum rw_own_word {
    RW_SAYS_NOTHING, /* The setting is not set. */
    RW_SAYS_EAGER,
    RW_SAYS_LAZY,
    RW_SAYS_ATOMIC,
    RW_SAYS_PARTITION,
    RW_SAYS_ERROR,
    RW_SAYS_DO_NOTHING,
    RW_SAYS_UPDATE,
    RW_SAYS_WRONG /* The setting does not take the word. */
} rw_own_word;
/* What a setting of keyspread's own is set to by `value`, of which the case does not matter. */
rw_own_word rw_own_word_of(rw_own_setting setting, pgw_slice value);
/* The setting that is called so, in lower case; RW_OWN_SETTINGS: none. */
rw_own_setting rw_own_setting_of(pgw_slice name);
/* Fills the error of a value that it does not take (22023); empty: the value is not shown. False.
 */
bool rw_own_refuse(rw_own_setting setting, pgw_slice value, pgw_error *error);

/* Whether the first schema of a search_path, as the server shows it, is information_schema, but for
 * pg_catalog. */
bool rw_path_informs(pgw_slice path);
/* A setting's name in lower case. */
pgw_slice rw_setting_name(pgw_arena *arena, pgw_slice name);
/* All that a statement calls set_config() for are settings that it names by constants, and that do
 * not decide what names of tables mean. */
bool rw_configures_no_names(pgw_slice text, bool conforming, pgw_arena *arena);

#endif
