/*
 * template: what was learned of an INSERT as text, for texts that differ from it in constants
 * alone. A text is like another if it is the same up to its first row and behind its last one, and
 * its rows are plain (rewrite/insert/plain_rows.h). Units are made with it in alike.h.
 */
#ifndef PX_TEMPLATE_H
#define PX_TEMPLATE_H

#include "proxy/ingest/owner.h"
#include "rewrite/insert/plain_rows.h"

enum {
    PX_TEMPLATE_KEY = 8 /* Columns of the longest primary key of tables that have templates. */
};

/* How a cell of the key is read in the least time. */
typedef enum px_quick {
    PX_READ_ANY,
    PX_READ_INTEGER,
    PX_READ_TIMESTAMPTZ,
    PX_READ_NOTHING /* The row has a default there, which is not known. */
} px_quick;

typedef struct px_key_cell {
    size_t cell;   /* Its place among those of a row. */
    size_t column; /* Of the table. */
    px_quick quick;
    int64_t least, most; /* Of an integer. */
    bool ends_in_blank;  /* Whether a blank at its end would change what the statement checks. */
} px_key_cell;

/* A cell of the key whose value only the backend can tell. */
typedef struct px_wanted_cell {
    bool written; /* As DEFAULT; else the row has no such cell. */
    size_t cell;  /* Its place among those of a row, if it is written. */
} px_wanted_cell;

/* What was learned of a shape. It lives in the arena of its specimen, and does not change. */
typedef struct px_template {
    px_text *specimen; /* One row of a text like those that it is for. Counted. */
    px_identity *identity;
    const cfg_config *config;
    uint64_t hash; /* As that of likenesses. */
    pgw_slice shape, tail;
    bool used; /* It was found since one of its set, or of all, was last sought to be forgotten. */
    px_key_cell key[PX_TEMPLATE_KEY];
    size_t hashed[PX_TEMPLATE_KEY]; /* Which of the key's values are those of hash_key. */
    size_t lifts;                   /* Cells that travel as parameters; 0: none does. */
    uint32_t *types;                /* The types of the columns that are lifted. */
    px_unit unit;                   /* What all units have in common. */
    size_t outside, added; /* Bytes around the statement, and those that are put into it. */
    /* What stands around the rows when the text is sent alone, and around its first hash. */
    pgw_slice before, behind, guard_before, guard_behind;
    /* A text whose key is asked for is to be filled with the answers; the filled one has another
     * template. One for each wanted cell of the specimen. NULL: nothing is wanted; else all above
     * from `key` on is unused. */
    const px_wanted_cell *wanted;
    rw_question question; /* What is asked for them. */
} px_template;

/* A text whose first row was read, and what is known of texts like it. */
typedef struct px_likeness {
    const px_template *like; /* Not counted: nothing is learned while it is in use. */
    uint64_t hash;           /* Of its shape, and of what stands behind a lone row. */
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
/* Whether the texts' keys are asked for: such a text is filled (px_alike_fill) with an answer for
 * each cell that the statement of the specimen wants, and is no unit before. */
bool px_template_asks(const px_template *it);
/* What is asked for the key of a text like those of a template that asks. */
const rw_question *px_template_question(const px_template *it);
/* Where its statement begins in the text of the specimen. */
size_t px_template_offset(const px_template *it);
/* The template for the same texts as `it`, but with this behind the last row; may be `it`; NULL:
 * there is none. */
const px_template *px_template_with_tail(px_worker *worker, const px_template *it,
                                         const px_likeness *of, pgw_slice tail);
void px_templates_free(px_worker *worker);

#endif
