/*
 * alike: a unit of a text that differs from ones of before in constants alone, made without parsing
 * it. What cannot be done so is done as if there were no template, with the same outcome.
 */
#ifndef PX_ALIKE_H
#define PX_ALIKE_H

#include "proxy/ingest/template.h"

/* The unit of a text whose rows are all plain and have keys that are known, and the text, counted;
 * the caller is to set `done`. NULL: it is to be parsed. */
px_unit *px_alike_unit(px_owner *owner, const px_standing *standing, px_likeness *of,
                       const pgw_env *env, px_text **text);

#endif
