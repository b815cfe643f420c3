/*
 * setting_kind: PostgreSQL's settings, of 15 to 18, by what each can change of an INSERT into a
 * configured table.
 */
#ifndef RW_SETTING_KIND_H
#define RW_SETTING_KIND_H

#include "protocol/bytes.h"

typedef enum rw_setting_kind {
    RW_SETTING_OTHER,   /* a setting that is not on the list: what it changes is not known */
    RW_SETTING_TRACKED, /* part of a session's identity, replayed on a new link */
    RW_SETTING_PATH,    /* search_path: tracked, and decides what names mean */
    RW_SETTING_OUTPUT,  /* how values are shown: matters where a statement casts or calls */
    RW_SETTING_PLAIN,   /* nothing: the row is stored, and its client told, the same */
    RW_SETTING_TEXT,    /* what a statement's text means */
    RW_SETTING_VALUE,   /* what a value is read as, or is kept as */
    RW_SETTING_CONDUCT  /* whether the row is stored, what runs beside it, what the client hears */
} rw_setting_kind;

/* `name` in lower case. */
rw_setting_kind rw_setting_kind_of(pgw_slice name);
/* Rows of a session that has set such a setting travel alone, over its own link. */
bool rw_setting_parts(rw_setting_kind kind);

#endif
