/*
 * alike: makes a write group of a text that differs from an earlier one in constants alone, without
 * parsing it. A text for which this fails is parsed, with the same outcome.
 */
#ifndef PX_ALIKE_H
#define PX_ALIKE_H

#include "proxy/ingest/template.h"

/* A text whose key was asked for, which is not read, and how it was filled with the answers. */
typedef struct px_alike_asked {
    px_text *text; /* The text as its client sent it; `filled` lives in its memory. */
    const rw_filled *filled;
} px_alike_asked;

/* Fills a text like those of a template that asks. False: the text is to be parsed, and there is
 * nothing in `out`; else the caller is to px_text_drop(out->text). */
PGW_MUST_CHECK bool px_alike_fill(const px_likeness *of, const rw_answer *answers,
                                  px_alike_asked *out);
/* A text whose rows are all plain and have known keys, counted, and how many they are. NULL: the
 * text is to be parsed. */
px_text *px_alike_text(px_worker *worker, px_likeness *of, const pgw_env *env, size_t *rows);
/* The write group of a text whose rows are all plain and have known keys, and the text, counted;
 * the caller is to set `done`. NULL: the text is to be parsed. `asked`: what was filled to get it;
 * NULL: it is as its client sent it. */
px_write_group *px_alike_write_group(px_submitter *submitter, const px_standing *standing,
                                     px_likeness *of, const pgw_env *env,
                                     const px_alike_asked *asked, px_text **text);

#endif
