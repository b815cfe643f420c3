/*
 * numbers: the next numbers of a sequence for the rows of one COPY, drawn in blocks over a link of
 * their own, because the session's own link is busy with the COPY. Those that no row gets are left
 * out of the sequence.
 */
#ifndef PX_NUMBERS_H
#define PX_NUMBERS_H

#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

typedef struct px_numbers px_numbers;

/* `moved` is called when numbers have come, or none will; it does not free the numbers. */
px_numbers *px_numbers_new(px_worker *worker, px_identity *identity, uint32_t sequence,
                           void (*moved)(void *submitter), void *submitter);
void px_numbers_free(px_numbers *numbers); /* NULL is fine */
/* Whether `count` numbers are there. If not, they are asked for. */
bool px_numbers_have(px_numbers *numbers, size_t count);
/* Takes the next number; there must be one. */
int64_t px_numbers_take(px_numbers *numbers);
/* The number that was taken last; false: none was. */
PGW_MUST_CHECK bool px_numbers_last(const px_numbers *numbers, int64_t *number);
/* The body of the ErrorResponse that says why no numbers come any more; empty: they do. */
pgw_slice px_numbers_error(const px_numbers *numbers);

#endif
