/*
 * template: what was learned of an INSERT as text, for texts that differ from it in constants
 * alone: they become units without being parsed. A text is like another if it is the same up to its
 * first row and behind its last one, and its rows are plain (rewrite/insert/plain_rows.h). What a
 * template cannot do is done as if there were none, with the same outcome.
 */
#ifndef PX_TEMPLATE_H
#define PX_TEMPLATE_H

#include "proxy/ingest/owner.h"
#include "rewrite/insert/plain_rows.h"

typedef struct px_template px_template;

/* A text whose first row was read, and what is known of texts like it. */
typedef struct px_likeness {
    const px_template *like; /* Not counted: nothing is learned while it is in use. */
    uint64_t hash; /* Of its shape, and of what stands behind a lone row. */
    size_t shape_len;
    rw_plain_rows rows;
    char shape[RW_PLAIN_SHAPE];
} px_likeness;

/* A unit was made of the text, which was parsed: if one like it came before, and texts like it can
 * be units without that, a template is kept. `plan`: of its lifted row; NULL: it is not lifted. */
void px_template_learn(px_worker *worker, const px_text *text, const px_unit *unit,
                       const px_plan *plan);
/* Whether there is a template for texts like this one, of sessions of this identity. A NUL stands
 * behind the text. */
PGW_MUST_CHECK bool px_template_find(px_worker *worker, const px_identity *identity, pgw_slice text,
                                     px_likeness *out);
/* The snapshot by which a template was made, and its statement, whose constants mean nothing. */
const px_catalog *px_template_catalog(const px_template *it);
const rw_insert *px_template_insert(const px_template *it);
/* The unit of a text whose rows are all plain and have keys that are known, and the text, counted;
 * the caller is to set `done`. NULL: it is to be parsed. */
px_unit *px_template_unit(px_owner *owner, const px_standing *standing, px_likeness *of,
                          const pgw_env *env, px_text **text);
void px_templates_free(px_worker *worker);

#endif
