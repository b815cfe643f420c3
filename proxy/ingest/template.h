/*
 * template: what was learned of an INSERT as text, for texts that differ in constants alone: they
 * are the same up to the first row and behind the last one, and their rows are plain
 * (rewrite/insert/plain_rows.h). Units are made with templates in alike.h.
 */
#ifndef PX_TEMPLATE_H
#define PX_TEMPLATE_H

#include "proxy/ingest/submitter.h"
#include "rewrite/insert/plain_rows.h"

enum {
    PX_TEMPLATE_KEY = 8 /* Columns of the longest primary key of tables that have templates. */
};

/* How a cell of the key is read in the least time. */
typedef enum px_quick {
    PX_READ_ANY,
    PX_READ_INTEGER,
    PX_READ_TIMESTAMPTZ,
    PX_READ_NOTHING /* The row has a default in this cell, which is not known. */
} px_quick;

enum { PX_NO_NUMBER = UINT8_MAX };

typedef struct px_key_cell {
    size_t cell;   /* The cell's place among those of a row. */
    size_t column; /* The column's place among those of the table. */
    px_quick quick;
    uint8_t kind; /* An rw_plain_kind: such a cell's number may be the value; or PX_NO_NUMBER. */
    int64_t least, most; /* The range of the number. */
    bool ends_in_blank;  /* Whether a blank at its end would change what the statement checks. */
} px_key_cell;

/* A cell of the key whose value only the backend can tell. */
typedef struct px_wanted_cell {
    bool written; /* The cell is written as DEFAULT; else the row has no such cell. */
    size_t cell;  /* The cell's place among those of a row, if it is written. */
} px_wanted_cell;

/* What was learned of a shape. It lives in the arena of its specimen, and does not change. */
typedef struct px_template {
    px_text *specimen; /* A text with one row, like those that the template is for. Counted. */
    px_identity *identity;
    const cfg_config *config;
    uint64_t hash; /* The hash of likenesses that the template is for. */
    pgw_slice shape, tail;
    bool used; /* The template was found since one was last sought to be forgotten. */
    px_key_cell key[PX_TEMPLATE_KEY];
    size_t hashed[PX_TEMPLATE_KEY]; /* Which of the key's values are those of the hash_key. */
    size_t lifts;                   /* Cells that travel as parameters; 0: none does. */
    uint32_t *types;                /* The types of the columns that are lifted. */
    px_write_group write_group;     /* What all write groups have in common. */
    size_t outside, added; /* Bytes around the statement, and those that are put into it. */
    /* What stands around the rows when the text is sent alone, and around its first hash. */
    pgw_slice before, behind, guard_before, guard_behind;
    /* One for each wanted cell of the specimen, whose value is asked for and filled in; the
     * filled text has another template. NULL: no cell is wanted; else all above from `key` on is
     * unused. */
    const px_wanted_cell *wanted;
    rw_question question; /* What is asked for the wanted cells. */
} px_template;

/* A text whose first row was read, and what is known of texts like it. */
typedef struct px_likeness {
    const px_template *like; /* The template. Not counted: nothing is learned while it is in use. */
    uint64_t hash;           /* The hash of the shape, and of what stands behind a lone row. */
    size_t shape_len;
    rw_plain_rows rows;
    char shape[RW_PLAIN_SHAPE];
} px_likeness;

/* Learns from a text that was parsed and made a write group: a template is kept if a text like it
 * came before, and such texts can be write groups without parsing. `plan`: of its lifted row; NULL:
 * it is not lifted. */
void px_template_learn(px_worker *worker, const px_text *text, const px_write_group *write_group,
                       const px_plan *plan);
/* Whether there is a template for texts like this one, of sessions of this identity. A NUL stands
 * behind the text. */
PGW_MUST_CHECK bool px_template_find(px_worker *worker, const px_identity *identity, pgw_slice text,
                                     px_likeness *out);
/* The snapshot by which a template was made, and its statement, whose constants mean nothing. */
const px_catalog *px_template_catalog(const px_template *it);
const rw_insert *px_template_insert(const px_template *it);
/* Whether the texts' keys are asked for: such a text is filled (px_alike_fill) with an answer for
 * each cell that the statement of the specimen wants, and is no write group before. */
bool px_template_asks(const px_template *it);
/* What is asked for the key of a text like those of a template that asks. */
const rw_question *px_template_question(const px_template *it);
/* Where the template's statement begins in the text of the specimen. */
size_t px_template_offset(const px_template *it);
/* The template for the same texts as `it`, but with this behind the last row; may be `it`; NULL:
 * there is none. */
const px_template *px_template_with_tail(px_worker *worker, const px_template *it,
                                         const px_likeness *of, pgw_slice tail);
void px_templates_free(px_worker *worker);

#endif
